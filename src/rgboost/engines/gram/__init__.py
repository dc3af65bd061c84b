"""The Gram engine: iterations on statistics of the rows, for the squared loss."""
