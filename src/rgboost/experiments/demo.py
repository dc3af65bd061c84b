"""``make demo``: RGBM for the paper's five subset sizes on a data set inside scikit-learn."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from ..learners import Stumps
from ..losses import Logistic
from ..selection import RandomGroups
from ..steps import ConstantStep
from ..theory import optimal_loss
from ..training import Trace, Validation, boost
from ..training.plan import paper_bins
from .protocol import geometric_grid

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ["#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00"]
N_ITER = 3000


@dataclass(frozen=True)
class DemoRun:
    t: int
    trace: Trace


def run_demo(n_iter: int = N_ITER, on_start: Any = None) -> tuple[list[DemoRun], float]:
    """Fit RGBM for each t; returns the runs and the smallest training loss that is possible."""
    X, labels = load_breast_cancer(return_X_y=True)
    y = np.where(labels == 1, 1.0, -1.0)
    split = train_test_split(X, y, test_size=0.2, random_state=0)
    X_train, X_test, y_train, y_test = (np.ascontiguousarray(part) for part in split)
    loss = Logistic(1e-4)
    learner = Stumps(max_bins=paper_bins(len(X_train)))
    runs = []
    for t in geometric_grid(X.shape[1]):
        if on_start is not None:
            on_start(t)
        arguments: dict[str, Any] = dict(
            loss=loss,
            learner=learner,
            selection=RandomGroups(t),
            step=ConstantStep(),
            validation=Validation(X_test, y_test),
            random_state=0,
        )
        boost(X_train, y_train, n_iter=2, **arguments)  # compile before the clock starts
        runs.append(DemoRun(t, boost(X_train, y_train, n_iter=n_iter, **arguments).trace))
    return runs, optimal_loss(X_train, y_train, loss, learner).loss


def draw(runs: list[DemoRun], optimum: float, path: Path) -> None:
    """Training optimality gap and test loss, against iterations and against time."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 7), sharey="row", layout="constrained")
    for run, colour in zip(runs, COLOURS, strict=False):
        trace = run.trace
        name = f"t = {run.t}" + (" (GBM)" if run is runs[0] else "")
        iterations = np.arange(len(trace.train_loss))
        gap = trace.train_loss - optimum
        for column, x in enumerate((iterations, 1e3 * trace.seconds)):
            axes[0, column].semilogy(x, gap, color=colour, label=name, lw=1.6)
            axes[1, column].plot(x, trace.validation_loss, color=colour, label=name, lw=1.6)
    for axis in axes.flat:
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_xlim(left=0)
    axes[0, 0].set_ylabel("training loss − smallest possible")
    axes[1, 0].set_ylabel("test loss")
    axes[1, 0].set_ylim(0, 0.3)
    axes[1, 0].set_xlabel("iteration")
    axes[1, 1].set_xlabel("time (ms)")
    axes[0, 0].legend(title="features per iteration", frameon=False)
    slowest = 1e3 * max(run.trace.seconds[-1] for run in runs)
    for axis in axes[:, 1]:
        axis.set_xlim(0, 0.5 * slowest)
    figure.suptitle("RGBM on the breast cancer data: fewer features per iteration, less time")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def seconds_to(gap: NDArray[np.float64], seconds: NDArray[np.float64], target: float) -> str:
    reached = np.flatnonzero(gap <= target)
    return f"{1e3 * seconds[reached[0]]:.1f} ms" if len(reached) else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the figure")
    parser.add_argument("--iterations", type=int, default=N_ITER)
    options = parser.parse_args()

    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    console = Console()
    with Progress(console=console) as progress:
        task = progress.add_task("breast cancer", total=6)

        def show(t: int) -> None:
            progress.update(task, advance=1, description=f"t = {t} of 30 features")

        runs, optimum = run_demo(options.iterations, show)
        draw(runs, optimum, options.out / "demo.png")
        progress.update(task, completed=6, description="done")
    table = Table(title="RGBM, logistic loss, stumps on every value, constant step 1/σ")
    for name in ("t", "iterations", "training loss", "test loss (best)", "seconds", "to gap 0.01"):
        table.add_column(name, justify="right")
    for run in runs:
        trace = run.trace
        held = trace.validation_loss
        assert held is not None
        table.add_row(
            str(run.t),
            f"{len(trace):,}",
            f"{trace.train_loss[-1]:.5f}",
            f"{held[-1]:.4f} ({held.min():.4f})",
            f"{trace.seconds[-1]:.3f}",
            seconds_to(trace.train_loss - optimum, trace.seconds, 0.01),
        )
    console.print(table)
    console.print(f"smallest possible training loss: {optimum:.5f}")
    console.print(f"figure: {options.out / 'demo.png'}")


if __name__ == "__main__":
    main()
