"""The paper's theory as code: random-then-greedy, norms, Minimal Cosine Angle, guarantees.

=============================  =================================================================
`rgboost.theory.procedure`     the random-then-greedy procedure and the law of the chosen index
`rgboost.theory.norms`         the four norms of the selection rules and their dual norms
`rgboost.theory.distance`      the distance between coefficients that predict differently
`rgboost.theory.angle`         the Minimal Cosine Angle, exact or as an interval
`rgboost.theory.guarantees`    the two theorems, and a check of traces against them
`rgboost.theory.dual`          lower bounds of the best loss that weak-learners can reach
`rgboost.theory.certificates`  with them: how far a model is from its optimum, that optimum,
                               certificates in the trace, stopping at a certified gap
`rgboost.theory.figures`       Figures limit, Theta and spread
=============================  =================================================================

The rest of the package does not import this folder.
"""

from .angle.closed_forms import binary_angle, binary_basis, orthogonal_angle, random_learners_angle
from .angle.cosine import minimal_cosine_angle
from .angle.known import MinimalCosineAngle
from .certificates.certificate import Certificate, certificate
from .certificates.optimal import Optimum, optimal_loss
from .certificates.recording import RecordCertificates
from .certificates.stopping import StopAtGap
from .distance import distance
from .figures import (
    draw_limit,
    draw_spread,
    draw_theta,
    figure_limit,
    figure_spread,
    figure_theta,
)
from .guarantees import (
    EpochRate,
    GuaranteeReport,
    SubsetSizeAdvice,
    check_guarantee,
    iterations_needed,
    level_set_radius,
    nonstrong_bound,
    rate_per_epoch,
    recommended_subset_size,
    strong_bound,
)
from .norms import (
    StructuredNorm,
    group_norm,
    infinity_norm,
    norm_of,
    ordered_l1_norm,
    ordered_mixed_norm,
)
from .procedure import beta_limit, chosen_distribution, sample_chosen, selection_probability

__all__ = [
    "Certificate",
    "EpochRate",
    "GuaranteeReport",
    "MinimalCosineAngle",
    "Optimum",
    "RecordCertificates",
    "StopAtGap",
    "StructuredNorm",
    "SubsetSizeAdvice",
    "beta_limit",
    "binary_angle",
    "binary_basis",
    "certificate",
    "check_guarantee",
    "chosen_distribution",
    "distance",
    "draw_limit",
    "draw_spread",
    "draw_theta",
    "figure_limit",
    "figure_spread",
    "figure_theta",
    "group_norm",
    "infinity_norm",
    "iterations_needed",
    "level_set_radius",
    "minimal_cosine_angle",
    "nonstrong_bound",
    "norm_of",
    "optimal_loss",
    "ordered_l1_norm",
    "ordered_mixed_norm",
    "orthogonal_angle",
    "random_learners_angle",
    "rate_per_epoch",
    "recommended_subset_size",
    "sample_chosen",
    "selection_probability",
    "strong_bound",
]
