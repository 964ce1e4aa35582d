"""The programs of the figures of Huang, Liang and Yi (2021): parts that a picture does not show."""

import gzip

import numpy as np
import pytest

from benchmarks.vector_baselines import _hadamard
from reproduce.__main__ import FIGURES
from reproduce.huang2021 import figure6
from reproduce.huang2021.measure import trimmed


@pytest.mark.parametrize("d", [1, 2, 8, 16])
def test_the_rotation_of_the_baseline_is_hadamards(d) -> None:
    parity = [[(i & j).bit_count() % 2 for j in range(d)] for i in range(d)]
    x = np.random.default_rng(d).normal(size=(3, d))
    np.testing.assert_allclose(_hadamard(x), x @ (1 - 2 * np.array(parity)) / np.sqrt(d))


def test_a_tenth_is_left_out_at_either_end() -> None:
    assert trimmed([100.0, *[1.0] * 4, *[3.0] * 4, -100.0])[0] == 2
    assert trimmed([1.0, 2.0, 6.0])[0] == 3


def test_images_are_read_or_their_absence_is_said(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv(figure6.VARIABLE, str(tmp_path))
    assert figure6.run() == []
    assert figure6.PACKAGE in capsys.readouterr().out
    for part, numbers in (("train", [0, 1, 2, 0]), ("t10k", [2, 1, 0])):
        images = np.repeat(np.array(numbers, dtype=np.uint8) * 100, 784)
        for name, header, data in (
            ("labels-idx1", 8, np.array(numbers, dtype=np.uint8)),
            ("images-idx3", 16, images),
        ):
            with gzip.open(tmp_path / f"{part}-{name}-ubyte.gz", "wb") as file:
                file.write(bytes(header) + data.tobytes())
    for number, panel in enumerate(figure6.panels(tmp_path)):
        x, mean, _ = panel.points[0].rows(np.random.default_rng(1))
        assert x.shape == ((3, 784), (2, 784), (2, 784))[number]
        np.testing.assert_allclose(mean, number * 100 / 255)


def test_every_figure_is_listed() -> None:
    assert [name for name in FIGURES if name.startswith("huang2021/")] == [
        f"huang2021/figure{number}" for number in range(1, 8)
    ]
