"""Convex conjugates of the losses that have one in closed form, or nearly; see `base`."""
