"""Selection rules: which weak-learners an iteration looks at (section 1.2.1 of the paper).

======================  ======  ================================================================
rule                    type    the random subset J
======================  ======  ================================================================
`AllLearners`           0       every weak-learner (this is the Gradient Boosting Machine)
`RandomLearners`        1       t weak-learners, uniformly, without replacement
`RandomGroup`           2       all weak-learners of one group, drawn uniformly
`RandomGroups`          3       all weak-learners of t groups, uniformly, without replacement
======================  ======  ================================================================

Not in the paper: with `RandomLearnersAndAlways` the weak-learners of some features are always in J;
with `WeightedGroups` some groups are, and others are drawn with weights. `RandomThresholds` draws
one weak-learner of each of t features.

Type 2 is Type 3 with ``t=1``; Type 0 is Type 3 with ``t="all"``: they consume the same random
numbers and give the same path. A group without any weak-learner (a constant feature, say) does
not exist for the draw.
"""

from .always import RandomLearnersAndAlways
from .layout import Layout, Subsets
from .rules import (
    AllLearners,
    RandomGroup,
    RandomGroups,
    RandomLearners,
    SelectionRule,
    SubsetSize,
)
from .thresholds import RandomThresholds
from .weighted import WeightedGroups

__all__ = [
    "AllLearners",
    "Layout",
    "RandomGroup",
    "RandomGroups",
    "RandomLearners",
    "RandomLearnersAndAlways",
    "RandomThresholds",
    "SelectionRule",
    "SubsetSize",
    "Subsets",
    "WeightedGroups",
]
