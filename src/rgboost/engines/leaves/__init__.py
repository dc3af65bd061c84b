"""Passes over the rows for weak-learners that part them into leaves."""
