"""Whether a large symmetric matrix is positive definite, by a Cholesky factorisation in blocks.

LAPACK's own is in blocks, too, but the one of OpenBLAS on several threads crashes from about 16,000
columns on. Products of blocks are most of the work and have no such fault. Bounds on what rounding
can do hold for any order of the additions (Higham, *Accuracy and Stability of Numerical
Algorithms*, Theorem 10.3).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from .._validation import Floats

BLOCK = 2048


def is_positive_definite(lower: Floats, block: int = BLOCK) -> bool:
    """Whether the factorisation of the matrix with this lower triangle runs through. In place."""
    n = len(lower)
    for a in range(0, n, block):
        b = min(a + block, n)
        corner = np.asfortranarray(lower[a:b, a:b])
        factor, info = lapack.dpotrf(corner, lower=1, clean=0, overwrite_a=1)
        if info != 0:
            return False
        panel = blas.dtrsm(1.0, factor, lower[b:, a:b], side=1, lower=1, trans_a=1)
        for c in range(b, n, block):
            d = min(c + block, n)
            lower[c:, c:d] -= panel[c - b :] @ panel[c - b : d - b].T
    return True
