"""Figure 6: the mean image, on Fashion-MNIST in the place of MNIST."""

import gzip
import os
from pathlib import Path

import numpy as np
from numpy.random import Generator

from reproduce.huang2021.measure import (
    COINPRESS,
    Floats,
    Found,
    Panel,
    Point,
    against_the_best,
    measure,
    show,
    write,
)
from reproduce.huang2021.normal import OTHERS, OURS
from reproduce.verdict import Verdict

VARIABLE = "FASHION_MNIST"
PACKAGE = "/usr/share/datasets/fashion-mnist"
CLASSES = ("T-shirt", "trouser", "pullover")
RHOS = (0.1, 0.2, 0.4, 0.8, 1.6)
SIDE = 28
ABOUT = f"""
The images of three classes of Fashion-MNIST (Xiao, Rasul and Vollgraf 2017), 7,000 each, in the
place of three digits of MNIST: 28 by 28 pixels, values in [0, 1], R = 50 sqrt(784), ρ from 0.1 to
1.6. Errors are from the mean of the images, so that no method has an error without privacy. The
files are those of Debian's package dataset-fashion-mnist, read from `{PACKAGE}` or from the folder
that the environment variable `{VARIABLE}` names.
"""
ABSENT = (
    f"Figure 6 skipped: no Fashion-MNIST in {PACKAGE}; install Debian's dataset-fashion-mnist, or "
    f"set {VARIABLE} to a folder with its four files"
)


def run(*, quick: bool = False) -> list[Verdict]:
    """Measure, draw and write the page; if quick, only print. Skipped if there are no images."""
    folder = Path(os.environ.get(VARIABLE, PACKAGE))
    if not (folder / "train-labels-idx1-ubyte.gz").exists():
        print(ABSENT)
        return []
    found = measure(6, panels(folder), (*COINPRESS, "Shifted-CM", "PLAN", *OURS), quick=quick)
    show(found, "ρ")
    verdicts = [_better(found), against_the_best(6, found, OTHERS)]
    if not quick:
        write(6, found, "ρ", ABOUT, verdicts)
    return verdicts


def panels(folder: Path) -> tuple[Panel, ...]:
    """The images of each class."""
    parts = ("train", "t10k")
    labels = np.concatenate([_bytes(folder / f"{part}-labels-idx1-ubyte.gz", 8) for part in parts])
    pixels = [_bytes(folder / f"{part}-images-idx3-ubyte.gz", 16) for part in parts]
    images = np.concatenate([each.reshape(-1, SIDE**2) for each in pixels])
    found = []
    for number, name in enumerate(CLASSES):
        x = images[labels == number] / 255.0
        found.append(Panel(name, tuple(_point(x, rho) for rho in RHOS)))
    return tuple(found)


def _point(x: Floats, rho: float) -> Point:
    def rows(_rng: Generator) -> tuple[Floats, Floats, float]:
        return x, x.mean(axis=0), float(x.std(axis=0).max())

    return Point(rho, SIDE**2, rho, 50.0 * SIDE, rows)


def _bytes(path: Path, header: int) -> np.ndarray:
    """The numbers of a file in the format IDX, behind its header."""
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=header)


def _better(found: Found) -> Verdict:
    ratio = found.ratio("Shifted-CM", COINPRESS)
    return Verdict(
        "Figure 6",
        "on images Shifted-CM outperforms COINPRESS for every ρ",
        f"{ratio.min():.2f} to {ratio.max():.2f} times the error of the best t",
        "no ratio above 1",
        bool(ratio.max() <= 1),
    )
