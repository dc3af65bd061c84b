"""The direct engine: every iteration works on the rows."""
