"""The quadratic engine: iterations on quadratic models of a smooth loss."""
