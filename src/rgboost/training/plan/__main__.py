"""``python -m rgboost.training.plan docs/defaults.md`` writes the tables of rules there."""

import sys
from pathlib import Path

from .documents import write

for name in sys.argv[1:]:
    write(Path(name))
