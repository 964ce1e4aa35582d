"""Plant each fault in a copy of the sources, and run the quick tests that should notice it.

``python -m tests.mutants [--only NAME ...] [--jobs N] [--shard I/K]``. The status is 1 if a fault
survives, or does not apply.
"""

from __future__ import annotations

import argparse
import compileall
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from tests.mutants import FAULTS
from tests.mutants.fault import DoesNotApplyError, Fault

ROOT = Path(__file__).parents[2]
PATIENCE = 300.0  # seconds: a mutant may loop for ever
NO_IMPORT = 70  # the status of a mutant that cannot be imported: pytest has none above 5
# The module first: a test that fails because it cannot be imported tells nothing.
LAUNCH = f"""
import importlib, sys
try:
    importlib.import_module(sys.argv[1])
except Exception as error:
    print(f"{{type(error).__name__}}: {{error}}")
    sys.exit({NO_IMPORT})
import pytest
sys.exit(pytest.main(sys.argv[2:]))
"""
QUICK = ("-q", "-x", "-n", "0", "-m", "not slow", "-rfE", "--tb=no", "-p", "no:cacheprovider")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?::.*?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """What became of a fault."""

    fault: Fault
    verdict: str  # "caught", "SURVIVED" or "does not apply"
    told: str  # the test that failed, or why there is none
    seconds: float

    def __str__(self) -> str:
        return f"{self.verdict:14} {self.fault.name:32} {self.seconds:6.1f} s  {self.told}"


class Copy:
    """The sources in a folder of their own, in which one fault at a time is planted."""

    def __init__(self, folder: Path) -> None:
        self.source = folder / "src"
        shutil.copytree(ROOT / "src", self.source)
        compileall.compile_dir(self.source, quiet=1)
        # Nothing is compiled later: a mutant of the same second and length would be taken for the
        # original.
        self._environment = os.environ | {
            "PYTHONPATH": f"{self.source}{os.pathsep}{ROOT}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def failing(self, module: str, tests: Sequence[str]) -> tuple[int, list[str], str]:
        """Import a module and run tests: the status, those that failed, and the last line."""
        run = subprocess.run(
            [sys.executable, "-c", LAUNCH, module, *QUICK, *tests],
            cwd=ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        said = [line for line in run.stdout.splitlines() if line.strip()] or [run.stderr]
        return run.returncode, FAILED.findall(run.stdout), said[-1]

    @contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        """Hold a fault, and take it out again."""
        path = self.source / "modicum" / fault.file
        before, times = path.read_text("utf-8"), path.stat()
        path.write_text(fault.planted(before), "utf-8")
        try:
            yield
        finally:
            path.write_text(before, "utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def judged(self, fault: Fault) -> tuple[str, str]:
        """Say what becomes of a fault, and which test told."""
        try:
            with self.planted(fault):
                tests = [f"tests/{each}" for each in fault.tests.split()]
                status, failed, last = self.failing(fault.module, tests)
        except DoesNotApplyError as error:
            return "does not apply", str(error)
        except subprocess.TimeoutExpired:
            return "SURVIVED", "its tests did not end"
        if status == NO_IMPORT:
            return "does not apply", last
        # 1: a test failed; 2: a test file could not be imported, which tells nothing.
        if status == 1 and failed:
            return "caught", failed[0]
        return "SURVIVED", last


def outcomes(faults: Sequence[Fault], jobs: int) -> Iterator[Outcome]:
    """Run all faults, so many at a time, each process in a copy of its own."""
    with tempfile.TemporaryDirectory(prefix="modicum-mutants-") as folder:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for job in range(jobs):
            copies.put(Copy(Path(folder) / str(job)))

        def run(fault: Fault) -> Outcome:
            copy, begin = copies.get(), time.monotonic()
            try:
                verdict, told = copy.judged(fault)
            finally:
                copies.put(copy)
            return Outcome(fault, verdict, told, time.monotonic() - begin)

        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(run, faults)


def without_faults(tests: Sequence[str]) -> str:
    """Run the tests that told on the sources as they are; return the first that fails here too."""
    if not tests:
        return ""
    with tempfile.TemporaryDirectory(prefix="modicum-mutants-") as folder:
        status, failed, last = Copy(Path(folder)).failing("modicum", tests)
    return "" if status == 0 else " ".join(failed) or last


def chosen(only: Sequence[str] | None, shard: str) -> list[Fault]:
    number, parts = map(int, shard.split("/"))
    if not 1 <= number <= parts:
        raise SystemExit(f"--shard is I/K with 1 <= I <= K, got {shard}")
    if unknown := sorted(set(only or ()) - {fault.name for fault in FAULTS}):
        raise SystemExit(f"no such faults: {', '.join(unknown)}")
    return [fault for fault in FAULTS if not only or fault.name in only][number - 1 :: parts]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--shard", default="1/1", metavar="I/K")
    arguments = parser.parse_args()
    done = []
    for outcome in outcomes(chosen(arguments.only, arguments.shard), max(1, arguments.jobs)):
        print(outcome, flush=True)
        done.append(outcome)
    caught = [each for each in done if each.verdict == "caught"]
    seconds = sum(each.seconds for each in done)
    print(f"{len(caught)} of {len(done)} faults caught, in {seconds:.0f} s of all processes")
    wrong = without_faults(list(dict.fromkeys(each.told for each in caught)))
    if wrong:
        print(f"fails without any fault: {wrong}")
    return int(bool(wrong) or len(caught) < len(done))


if __name__ == "__main__":
    sys.exit(main())
