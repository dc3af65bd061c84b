"""Rows on a graphics card (``device="cuda"``): sums over them, and the direct engine.

Nothing here is imported before somebody asks for a card.
"""
