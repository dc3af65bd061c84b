"""Engines: Algorithm 2 on rows, on statistics of them, and on quadratic models of the loss."""
