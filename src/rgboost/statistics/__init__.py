"""Sums over rows, wherever the rows live."""
