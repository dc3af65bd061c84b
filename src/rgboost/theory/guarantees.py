"""The computational guarantees of the paper as functions, and a check of traces against them.

Losses are sums over the samples, L(beta) = sum_i l(y_i, B_i beta), as in the paper; a trace of
mean losses has to be multiplied by the number of samples (or the sum of their weights) first.
The gap is L(beta^0) - L(beta*) at the start.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from .._core.validation import check_count, check_real
from ._validation import Floats, check_vector
from .angle.closed_forms import orthogonal_angle, random_learners_angle
from .norms import ordered_l1_norm
from .procedure import selection_probability

_ROUNDING = 1e-12
"""Share of the largest loss that a trace may be above its bound by rounding."""


def strong_bound(M: ArrayLike, initial_gap: float, mu: float, sigma: float, theta: float) -> Floats:
    r"""Theorem strong: the expected gap after M iterations for a strongly convex loss.

    .. math:: \mathbb E[L(\beta^M) - L(\beta^*)]
              \le \Big(1 - \frac{\mu}{\sigma} \Theta_F^2\Big)^M (L(\beta^0) - L(\beta^*))

    for line search, or the constant step 1/sigma.

    Parameters
    ----------
    M : int or array of int
        Numbers of iterations.
    initial_gap : float
        L(beta^0) - L(beta*).
    mu, sigma : float
        The loss is mu-strongly convex and sigma-smooth in the prediction, 0 < mu <= sigma.
    theta : float
        The Minimal Cosine Angle, or any lower bound of it; 0 < theta <= 1.

    Notes
    -----
    Proposition strong_con, on which the proof rests, is printed without the square on its last
    distance. It holds with the square (as its own proof ends); without it, it fails for
    coefficients at a distance below 1. The same square is missing in the proof of the theorem,
    which uses Proposition average, where it is present. (In the proof of the latter, the "<=" of
    the first conclusion is meant as ">=".)

    Examples
    --------
    >>> from rgboost.theory import strong_bound
    >>> strong_bound([0, 10, 100], initial_gap=1.0, mu=1.0, sigma=1.0, theta=0.2).round(4)
    array([1.    , 0.6648, 0.0169])
    """
    iterations = _check_iterations(M)
    gap = _check_gap(initial_gap)
    rate = _contraction(mu, sigma, theta)
    with np.errstate(divide="ignore", invalid="ignore"):  # mu theta^2 = sigma: 0 after one step
        factor = np.exp(iterations * np.log1p(-rate))
    return np.asarray(np.where(iterations == 0, 1.0, factor) * gap)


def nonstrong_bound(M: ArrayLike, initial_gap: float, sigma: float, D: float) -> Floats:
    r"""Theorem non-strong: the expected gap after M iterations for a smooth loss.

    .. math:: \mathbb E[L(\beta^M) - L(\beta^*)]
              \le \frac{1}{\frac{1}{L(\beta^0) - L(\beta^*)} + \frac{M}{2 \sigma D^2}}
              \le \frac{2 \sigma D^2}{M}

    for line search, or the constant step 1/sigma, and a loss with a bounded level set.

    Parameters
    ----------
    M : int or array of int
        Numbers of iterations.
    initial_gap : float
        L(beta^0) - L(beta*).
    sigma : float
        The loss is sigma-smooth in the prediction.
    D : float
        The largest distance from the initial level set to the optimum, or any upper bound of it
        (`level_set_radius`).

    Examples
    --------
    >>> from rgboost.theory import nonstrong_bound
    >>> nonstrong_bound([0, 10, 100], initial_gap=1.0, sigma=0.25, D=4.0).round(4)
    array([1.    , 0.4444, 0.0741])
    """
    iterations = _check_iterations(M)
    gap = _check_gap(initial_gap)
    scale = _nonstrong_scale(sigma, D)
    return np.asarray(gap / (1.0 + gap * (iterations / scale)))


def iterations_needed(
    epsilon: float,
    initial_gap: float,
    *,
    sigma: float,
    mu: float | None = None,
    theta: float | None = None,
    D: float | None = None,
) -> int:
    r"""The smallest M for which a theorem promises an expected gap of at most epsilon.

    With mu and theta, Theorem strong:
    :math:`M \ge \ln(\mathrm{gap}/\varepsilon) / -\ln(1 - \frac\mu\sigma \Theta^2)`.
    With D, Theorem non-strong:
    :math:`M \ge 2 \sigma D^2 (1/\varepsilon - 1/\mathrm{gap})`.

    Parameters
    ----------
    epsilon : float
        The gap to reach.
    initial_gap : float
        L(beta^0) - L(beta*).
    sigma, mu, theta, D : float
        As in `strong_bound` (mu and theta) and `nonstrong_bound` (D).

    Returns
    -------
    int

    Examples
    --------
    >>> from rgboost.theory import iterations_needed
    >>> iterations_needed(0.01, initial_gap=1.0, sigma=1.0, mu=1.0, theta=0.2)
    113
    """
    target = check_real(epsilon, "epsilon", above=0.0, remedy="pass a positive gap to reach")
    gap = _check_gap(initial_gap)
    ratio = max(1.0, gap / target)
    bound: Callable[[int], Floats]
    if D is None and mu is not None and theta is not None:
        rate = _contraction(mu, sigma, theta)
        bound = partial(strong_bound, initial_gap=gap, mu=mu, sigma=sigma, theta=theta)
        guess = math.log(ratio) / -math.log1p(-rate) if rate < 1.0 else 1.0
    elif D is not None and mu is None and theta is None:
        bound = partial(nonstrong_bound, initial_gap=gap, sigma=sigma, D=D)
        guess = _nonstrong_scale(sigma, D) * (ratio - 1.0) / max(gap, target)
    else:
        raise ValueError(
            f"mu={mu}, theta={theta} and D={D} fit neither theorem; pass mu and theta for a "
            "strongly convex loss, or D alone for any other."
        )
    if gap <= target:
        return 0
    M = max(1, math.ceil(guess))
    while bound(M) > target:  # the guess may be off by rounding
        M += max(1, M // 2**50)
    while 1 < M < 2**50 and bound(M - 1) <= target:
        M -= 1
    return M


def level_set_radius(C: float, theta: float) -> float:
    r"""An upper bound on D, the size of the initial level set (Proposition bound).

    .. math:: D = \max_{\beta \in LS_0} \mathrm{Dist}_F^B(\beta, \beta^*) \le C / \Theta_F,
              \qquad C \ge \max_{\beta \in LS_0} \|B(\beta - \beta^*)\|_2.

    For a mu-strongly convex loss :math:`C = \sqrt{2 (L(\beta^0) - L(\beta^*)) / \mu}` will do.

    Parameters
    ----------
    C : float
        A bound of the distance of predictions in the level set from the best ones.
    theta : float
        The Minimal Cosine Angle, or any lower bound of it.

    Returns
    -------
    float

    Examples
    --------
    >>> from rgboost.theory import level_set_radius
    >>> level_set_radius(2.0, theta=0.5)
    4.0
    """
    C = check_real(C, "C", at_least=0.0, remedy="pass the radius of the level set's predictions")
    return C / _check_theta(theta)


@dataclass(frozen=True)
class EpochRate:
    """By what the bound is multiplied in one epoch, p/t iterations.

    ``exact`` uses the Minimal Cosine Angle from the formula of Example 2, ``asymptotic`` the form
    of the paper's remark. They agree to rounding: see `random_learners_angle`.

    Examples
    --------
    >>> from rgboost.theory import rate_per_epoch
    >>> rate = rate_per_epoch(100, 10, mu=1.0, sigma=1.0)
    >>> abs(rate.exact - rate.asymptotic) < 1e-12
    True
    """

    exact: float
    asymptotic: float


def rate_per_epoch(p: int, t: int, mu: float, sigma: float) -> EpochRate:
    r"""The improvement per epoch for p orthogonal weak-learners, t drawn (remark on epochs).

    .. math:: \Big(1 - \frac\mu\sigma \Theta_S^2\Big)^{p/t}
              = \begin{cases} (1 - \frac{\mu}{p \sigma})^{p/t} & t \ge \sqrt p, \\
                (1 - \frac{t^2 \mu}{p^2 \sigma})^{p/t} & t < \sqrt p. \end{cases}

    An epoch is the cost of looking at every weak-learner once; smaller is better.

    Parameters
    ----------
    p : int
        The number of weak-learners.
    t : int
        The size of the subset.
    mu, sigma : float
        Strong convexity and smoothness of the loss.

    Returns
    -------
    EpochRate

    Examples
    --------
    >>> from rgboost.theory import rate_per_epoch
    >>> [round(rate_per_epoch(100, t, mu=1.0, sigma=1.0).exact, 3) for t in (1, 10, 100)]
    [0.99, 0.904, 0.99]
    """
    asymptotic = random_learners_angle(p, t)
    exact = orthogonal_angle(ordered_l1_norm(selection_probability(p, t)))
    epoch = p / t
    return EpochRate(
        *(float((1.0 - _contraction(mu, sigma, theta)) ** epoch) for theta in (exact, asymptotic))
    )


@dataclass(frozen=True)
class SubsetSizeAdvice:
    """A subset size, and why.

    Attributes
    ----------
    t : int
    reason : str

    Examples
    --------
    >>> from rgboost.theory import recommended_subset_size
    >>> recommended_subset_size(90).reason[:50]
    'With 90 nearly orthogonal weak-learners (or groups'
    """

    t: int
    reason: str


def recommended_subset_size(p: int) -> SubsetSizeAdvice:
    r"""The subset size with the best guarantee per epoch when weak-learners are near-orthogonal.

    Of the two integers next to sqrt(p), the one with the larger :math:`\Theta_S^2 / t` (the rate
    of an epoch when mu/sigma is small): the upper one exactly if their product is at most p (in a
    tie it is better by the next order).

    Parameters
    ----------
    p : int
        The number of weak-learners, or of groups.

    Returns
    -------
    SubsetSizeAdvice

    Examples
    --------
    >>> from rgboost.theory import recommended_subset_size
    >>> recommended_subset_size(100).t
    10
    """
    p = check_count(p, "p", at_least=1, remedy="pass the number of weak-learners, at least 1")
    low = math.isqrt(p)
    high = low if low * low == p else low + 1
    t = high if low * high <= p else low
    reason = (
        f"With {p} nearly orthogonal weak-learners (or groups) the Minimal Cosine Angle is "
        f"min(t/{p}, 1/sqrt({p})): it grows with t only up to sqrt({p}) = {math.sqrt(p):.1f}. "
        f"Below that, an epoch of {p}/t iterations gains in proportion to t; above it, a larger "
        f"subset costs more and promises nothing more. So t = {t}. Weak-learners that are far "
        "from orthogonal may do better with another t; the bound only covers the worst case."
    )
    return SubsetSizeAdvice(t, reason)


@dataclass(frozen=True)
class GuaranteeReport:
    """What `check_guarantee` found.

    Attributes
    ----------
    ok : bool
        Whether no iteration contradicts the bound.
    worst_ratio : float
        The largest observed gap divided by its bound; at most 1 if ok. The start, where both are
        equal by definition, counts only if it fails.
    worst_iteration : int
        Where that was.
    message : str
        The same in words.

    Examples
    --------
    >>> from rgboost.theory import check_guarantee, strong_bound
    >>> bound = strong_bound([0, 1, 2], initial_gap=1.0, mu=1.0, sigma=1.0, theta=0.5)
    >>> check_guarantee([3.0, 2.9, 2.8], 2.0, bound, deterministic=True).message
    'The largest gap is above the bound: at worst 1.422 times it, in iteration 2.'
    """

    ok: bool
    worst_ratio: float
    worst_iteration: int
    message: str


def check_guarantee(
    losses: ArrayLike,
    optimum: float,
    bound: ArrayLike | Callable[[Any], ArrayLike],
    *,
    deterministic: bool,
    confidence: float = 0.99,
) -> GuaranteeReport:
    r"""Compare traces of the training loss with the bound of a theorem.

    Parameters
    ----------
    losses : array-like of shape (n_seeds, M + 1) or (M + 1,)
        Summed (not mean) training losses L(beta^m), m = 0, ..., M, one row per run.
    optimum : float
        L(beta*), the smallest loss that any coefficients reach.
    bound : array-like of shape (M + 1,) or callable
        The bound on the gap after m iterations, or a function of the array 0, ..., M.
    deterministic : bool
        Type 0 (and t = "all"): every run must obey the bound in every iteration. Random rules:
        the theorems are about the mean over runs, see the notes.
    confidence : float
        For random rules, the probability with which a true bound passes.

    Returns
    -------
    GuaranteeReport

    Notes
    -----
    For random rules the observed gap of an iteration is the lower end of a one-sided confidence
    band for its mean, :math:`\bar g_m - t_{n-1}(1 - \alpha/M)\, s_m / \sqrt n` with
    alpha = 1 - confidence, Student's t and Bonferroni's correction for M iterations. A report
    that is not ok thus says that the mean is above the bound beyond the luck of n runs (up to
    the normal approximation of the mean). A trace may be above its bound by 1e-12 of the largest
    loss, for rounding.

    Examples
    --------
    >>> from rgboost.theory import check_guarantee, strong_bound
    >>> bound = strong_bound([0, 1, 2], initial_gap=1.0, mu=1.0, sigma=1.0, theta=0.5)
    >>> check_guarantee([3.0, 2.5, 2.2], 2.0, bound, deterministic=True).ok
    True
    """
    runs = _check_losses(losses)
    minimum = check_real(optimum, "optimum", remedy="pass the smallest loss, a finite number")
    level = check_real(
        confidence, "confidence", above=0.0, below=1.0, remedy="pass a number such as 0.99"
    )
    n_seeds, n_points = runs.shape
    promised = bound(np.arange(n_points)) if callable(bound) else bound
    promised = check_vector("bound", promised, n_points)
    rounding = _ROUNDING * max(float(np.abs(runs).max()), abs(minimum))
    gaps = runs - minimum
    if gaps.min() < -rounding:
        raise ValueError(
            f"optimum={minimum!r} is above the loss {float(runs.min())!r} of a run; pass the "
            "smallest loss that any coefficients reach, as a sum over samples like the losses."
        )
    if deterministic:
        observed, subject = gaps.max(axis=0), "the largest gap"
    else:
        observed = _lower_mean(gaps, level)
        subject = f"the mean gap of {n_seeds} runs (lower end of a {level:.4g} band)"
    return _report(observed - rounding, promised, subject)


def _lower_mean(gaps: Floats, confidence: float) -> Floats:
    """The lower ends of the simultaneous one-sided confidence intervals of the column means."""
    n_seeds, n_points = gaps.shape
    if n_seeds < 2:
        raise ValueError(
            "losses holds 1 run; a random rule needs runs from at least 2 seeds (20 or more are "
            "sensible), or pass deterministic=True for a rule that draws nothing."
        )
    quantile = float(student.ppf(1.0 - (1.0 - confidence) / max(1, n_points - 1), n_seeds - 1))
    spread = gaps.std(axis=0, ddof=1) / math.sqrt(n_seeds)
    band = np.where(spread > 0.0, quantile, 0.0) * spread
    return np.asarray(gaps.mean(axis=0) - band)


def _report(observed: Floats, promised: Floats, subject: str) -> GuaranteeReport:
    positive = promised > 0.0
    ratio = np.where(observed > 0.0, math.inf, 0.0)
    np.divide(np.maximum(observed, 0.0), promised, out=ratio, where=positive)
    if len(ratio) > 1 and ratio[0] <= 1.0:
        ratio[0] = -1.0
    worst = int(np.argmax(ratio))
    value = float(ratio[worst])
    ok = value <= 1.0
    verdict = "obeys the bound" if ok else "is above the bound"
    message = f"{subject} {verdict}: at worst {value:.4g} times it, in iteration {worst}."
    return GuaranteeReport(ok, value, worst, message[0].upper() + message[1:])


def _check_losses(losses: ArrayLike) -> Floats:
    runs = np.atleast_2d(np.asarray(losses, dtype=np.float64))
    if runs.ndim != 2 or runs.size == 0 or not np.isfinite(runs).all():
        raise ValueError(
            f"losses has shape {np.shape(losses)} or holds NaN or infinity; pass finite summed "
            "losses, one row per run and one column per iteration, the start included."
        )
    return runs


def _check_iterations(M: ArrayLike) -> Floats:
    iterations = np.asarray(M, dtype=np.float64)
    if not (np.isfinite(iterations) & (iterations >= 0.0)).all():
        raise ValueError(f"M={M!r} is impossible; pass numbers of iterations, 0 or more.")
    return iterations


def _check_gap(initial_gap: float) -> float:
    return check_real(
        initial_gap, "initial_gap", at_least=0.0, remedy="pass L(beta^0) - L(beta*), 0 or more"
    )


def _check_theta(theta: float) -> float:
    return check_real(
        theta,
        "theta",
        above=0.0,
        at_most=1.0 + 1e-12,
        remedy="pass a Minimal Cosine Angle, above 0 and at most 1",
    )


def _contraction(mu: float, sigma: float, theta: float) -> float:
    """mu theta^2 / sigma, in (0, 1]."""
    sigma = check_real(sigma, "sigma", above=0.0, remedy="pass the smoothness of the loss")
    mu = check_real(
        mu,
        "mu",
        above=0.0,
        at_most=sigma,
        remedy=f"pass the loss's strong convexity, above 0 and at most sigma={sigma}; a loss "
        "without it has nonstrong_bound",
    )
    return min(1.0, mu / sigma * _check_theta(theta) ** 2)


def _nonstrong_scale(sigma: float, D: float) -> float:
    """2 sigma D^2."""
    sigma = check_real(sigma, "sigma", above=0.0, remedy="pass the smoothness of the loss")
    D = check_real(D, "D", above=0.0, remedy="pass a positive radius, see level_set_radius")
    return 2.0 * sigma * D**2
