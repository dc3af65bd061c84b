"""The Minimal Cosine Angle: closed forms, exact values, and bounds where those are too dear."""
