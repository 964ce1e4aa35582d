"""Draw report.png: a page about a release, as a browser shows it.

    python docs/figures/report.py [file.png]

It needs Chromium. The data are invented and the randomness is seeded, so the page may be shown.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import modicum as mo
from modicum.exact.entropy import SeededEntropy

SIZE = "840,1500"


class Shown(SeededEntropy):
    """Repeats itself, and has no warning of a test's release on the page."""

    secret = True


def page(folder: Path) -> Path:
    income = np.random.default_rng(1).lognormal(10.5, 0.5, 40_000).round()
    table = pd.DataFrame({"income": income})
    curator = mo.Curator(table, budget=mo.pure(4), entropy=Shown("a page"))
    curator.count(epsilon="0.5")
    release = curator.mean("income", epsilon=1)
    return release.report(
        folder / "report.html", title="Mean income, 2026", author="Statistics Office"
    )


def main(target: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(
            [
                "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                "--no-first-run", "--disable-background-networking", "--disable-component-update",
                "--disable-sync", f"--user-data-dir={folder / 'browser'}", "--disable-quic",
                "--blink-settings=preferredColorScheme=1", f"--window-size={SIZE}",
                f"--screenshot={Path(target).absolute()}", page(folder).as_uri(),
            ],
            check=True,
            capture_output=True,
        )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).with_name("report.png")))
