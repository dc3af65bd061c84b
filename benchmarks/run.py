"""The command: run the cases that are not done, write figures, table and plots."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from . import plots, report
from .cases import CASES
from .measure import machine, source_digest, versions

ROOT = Path(__file__).parent.parent
console = Console()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--set", choices=["short", "full"], default="short")
    parser.add_argument("--only", nargs="+", choices=list(CASES), metavar="CASE",
                        help=f"of {', '.join(CASES)}")  # fmt: skip
    parser.add_argument("--fresh", action="store_true", help="run finished cases again")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--data-dir", help="folder of a9a and colon-cancer, else RGBOOST_DATA")
    parser.add_argument("--patience", type=float, default=0.0, metavar="SECONDS",
                        help="how long a run may wait for other processes to be quiet")  # fmt: skip
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    return parser.parse_args()


def main() -> None:
    options = arguments()
    folder = options.out / options.set
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.json"
    results = _read(path, options)
    wanted = [case for case in CASES.values() if options.set in case.sets]
    if options.only:
        wanted = [case for case in wanted if case.name in options.only]
    todo = [c for c in wanted if options.fresh or not _is_done(results["cases"].get(c.name))]
    if len(todo) < len(wanted):
        console.print(f"{len(wanted) - len(todo)} cases are done already (--fresh runs them again)")
    try:
        _run_all(todo, options, folder, results, path)
    except KeyboardInterrupt:
        console.print("interrupted; finished cases are kept")
    order = {name: results["cases"][name] for name in CASES if name in results["cases"]}
    results["cases"] = order
    _write(path, results)
    (folder / "table.md").write_text(report.markdown(results, source_digest()))
    drawn = plots.draw_all(results["cases"], folder)
    report.show_on(console, results)
    _closing(results, folder, drawn)


def _read(path: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Earlier results with the same number of threads, or an empty form."""
    fresh = {"set": options.set, "threads": options.threads, "cases": {}}
    if path.is_file():
        earlier = json.loads(path.read_text())
        if earlier["threads"] == options.threads:
            fresh["cases"] = earlier["cases"]
    return {**fresh, "machine": machine(), "versions": versions()}


def _write(path: Path, results: dict[str, Any]) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(results, indent=1))
    part.replace(path)


def _is_done(case: dict[str, Any] | None) -> bool:
    return case is not None and "figures" in case


def _environment(options: argparse.Namespace, digest: str) -> dict[str, str]:
    """Compiled code of another version of the source must not be used: one cache for each."""
    caches = options.out.resolve() / "compiled"
    for other in caches.glob("*"):
        if other.name != digest:
            shutil.rmtree(other, ignore_errors=True)
    return {
        **os.environ,
        "NUMBA_CACHE_DIR": str(caches / digest),
        "OMP_NUM_THREADS": str(options.threads),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).strip(":"),
    }


def _run_all(todo, options, folder, results, path) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        overall = progress.add_task("cases", total=len(todo))
        for case in todo:

            def say(text: str, title: str = case.title) -> None:
                progress.update(overall, description=f"[bold]{title}[/]: {text}"[:90])

            say("starting")
            digest = source_digest()  # the source may change while the benchmark runs
            found = _run(case.name, options, _environment(options, digest), folder, say)
            results["cases"][case.name] = {"title": case.title, "digest": digest, **found}
            _write(path, results)
            for kind in ("skipped", "failed"):
                if kind in found:
                    progress.console.print(f"{case.name} {kind}: {found[kind]}", markup=False)
            progress.advance(overall)
        progress.update(overall, description="done")


def _run(name, options, environment, folder, say) -> dict[str, Any]:
    """One case in a process of its own; what it says on the way is shown."""
    command = [sys.executable, "-m", "benchmarks.worker", name, "--set", options.set]
    command += ["--threads", str(options.threads), "--patience", str(options.patience)]
    if options.data_dir:
        command += ["--data-dir", options.data_dir]
    log = folder / f"{name}.log"
    found: dict[str, Any] = {}
    with log.open("w") as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
        )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                message = json.loads(line)
                if "say" in message:
                    say(message["say"])
                elif "skipped" in message:
                    found = {"skipped": message["skipped"]}
                else:
                    found = message["result"]
        except BaseException:
            process.terminate()
            raise
        finally:
            process.wait()
    if not found:
        last = (log.read_text().strip().splitlines() or ["no message"])[-1]
        return {"failed": f"{last[:200]} (exit {process.returncode}, see {log.name})"}
    if not log.stat().st_size:
        log.unlink()
    return found


def _closing(results: dict[str, Any], folder: Path, drawn: list[Path]) -> None:
    seconds = sum(case.get("seconds", 0.0) for case in results["cases"].values())
    console.print(f"all cases together: {seconds:,.0f} s")
    written = ["results.json", "table.md", *(path.name for path in drawn)]
    console.print(f"written to {folder}: {', '.join(written)}")


if __name__ == "__main__":
    main()
