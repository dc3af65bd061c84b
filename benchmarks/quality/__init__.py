"""How well everybody predicts at default settings.

``data`` has the sets, ``contestants`` fit them, ``verdicts`` and ``table`` say what came out,
``run`` is the command: ``python -m benchmarks.quality``.
"""
