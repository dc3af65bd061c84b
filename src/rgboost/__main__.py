"""``python -m rgboost``."""

from .cli import main

main()
