"""Lower bounds of the best loss: conjugate losses, Range(B), and the search for a good bound."""
