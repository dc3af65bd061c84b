"""Certificates of fitted models and of runs: how far their loss is from the best one."""
