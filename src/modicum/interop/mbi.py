"""Released counts as inputs of ``mbi``, which fits a joint distribution to noisy marginals.

mbi (McKenna, Sheldon and Miklau 2019) makes synthetic data and answers of other marginals of them.
What it is given is released already, so that nothing is spent: the account is that of the releases.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.releases.array_release import ArrayRelease
from modicum.releases.grouped_release import GroupedArrayRelease, GroupedRelease
from modicum.releases.release import Record

__all__ = ["Marginal", "Marginals", "marginals", "to_mbi"]

Counts = GroupedRelease | GroupedArrayRelease | ArrayRelease
Labels = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Marginal:
    """Noisy counts of all combinations of the labels of some attributes.

    Attributes
    ----------
    attributes : tuple of str
        The columns.
    values : tuple of float
        Counts with their noise, which may be negative, in C order of the labels.
    stddev : float
        Standard deviation of the noise of each.

    Examples
    --------
    >>> Marginal(("sex",), (901.0, 1798.0), stddev=1.36).attributes
    ('sex',)
    """

    attributes: tuple[str, ...]
    values: tuple[float, ...]
    stddev: float


@dataclass(frozen=True, slots=True)
class Marginals:
    """Marginals of one table; made by :func:`marginals`.

    Attributes
    ----------
    labels : mapping of str to tuple
        The labels of each attribute, in the order of their counts.
    measurements : tuple of Marginal
        In the order of the releases.

    Examples
    --------
    >>> import pandas as pd, modicum
    >>> table = pd.DataFrame({"age": [23, 45, 67] * 999})
    >>> ages = modicum.histogram(table, "age", edges=[0, 18, 65, 100], epsilon=1)
    >>> marginals(ages).labels
    {'age': ((0.0, 18.0), (18.0, 65.0), (65.0, 100.0))}
    """

    labels: Mapping[str, Labels]
    measurements: tuple[Marginal, ...]


def marginals(*releases: Counts) -> Marginals:
    """Collect released counts as noisy marginals, in a form that needs no other package.

    Parameters
    ----------
    *releases : GroupedRelease, GroupedArrayRelease or ArrayRelease
        Counts by groups whose keys were given, all combinations of lists if there are several
        columns; histograms; and histograms by groups. All are of one table, and its rows those of
        one release as of the other.

    Returns
    -------
    Marginals
        Labels and noisy counts.

    Raises
    ------
    InvalidArgument
        For other releases; for keys that were drawn, or are not all combinations; if two releases
        have different labels of one attribute.

    Notes
    -----
    The counts are those with noise, not cut at 0 as the releases show them, and the standard
    deviations those of their noise. An attribute of a histogram has bins, ``(left, right)``, for
    labels. Rows with other keys, with missing values or outside the edges are in no cell: if they
    are many, the totals of two marginals differ by more than noise.

    Examples
    --------
    >>> import pandas as pd, modicum
    >>> table = pd.DataFrame({"sex": ["f", "m", "m"] * 900, "plan": [1, 2, 3] * 900})
    >>> curator = modicum.Curator(table, budget=modicum.pure(2))
    >>> keys = {"sex": ["f", "m"], "plan": [1, 2, 3]}
    >>> cells = curator.group_by("sex", "plan", keys=keys).count(epsilon=1)
    >>> found = marginals(cells)
    >>> found.labels, [round(each, -2) for each in found.measurements[0].values]
    ({'sex': ('f', 'm'), 'plan': (1, 2, 3)}, [900.0, 0.0, 0.0, 0.0, 900.0, 900.0])
    """
    if not releases:
        raise InvalidArgument("pass at least one release of counts")
    labels: dict[str, Labels] = {}
    found = []
    for release in releases:
        mine, measured = _measured(release)
        for name, some in mine.items():
            if labels.setdefault(name, some) != some:
                raise InvalidArgument(
                    f"two releases have different labels of {name!r}, or in another order: "
                    f"{labels[name]!r} and {some!r}"
                )
        found.append(measured)
    return Marginals(labels, tuple(found))


def to_mbi(*releases: Counts) -> tuple[Any, list[Any]]:
    """Return a domain and measurements for the estimators of ``mbi`` (extra ``mbi``).

    Parameters
    ----------
    *releases : GroupedRelease, GroupedArrayRelease or ArrayRelease
        As for :func:`marginals`.

    Returns
    -------
    domain : mbi.Domain
        Its labels are those of the releases.
    measurements : list of mbi.LinearMeasurement

    Raises
    ------
    InvalidArgument
        As for :func:`marginals`, and if mbi is not installed.

    Notes
    -----
    mbi weighs measurements by their standard deviations, as least squares does; the noise of pure
    ε is a discrete Laplace law all the same.
    """
    found = marginals(*releases)
    try:
        mbi = import_module("mbi")
    except ModuleNotFoundError:
        raise InvalidArgument("mbi is missing: pip install mbi") from None
    sizes = [len(labels) for labels in found.labels.values()]
    domain = mbi.Domain(tuple(found.labels), sizes, labels=tuple(found.labels.values()))
    return domain, [
        mbi.LinearMeasurement(np.array(each.values), each.attributes, stddev=each.stddev)
        for each in found.measurements
    ]


def _measured(release: object) -> tuple[dict[str, Labels], Marginal]:
    if isinstance(release, ArrayRelease) and release.statistic == "histogram":
        noisy, stddev = _noisy(release)
        return _marginal({_column(release): release.labels}, noisy, stddev)
    if not isinstance(release, GroupedRelease | GroupedArrayRelease):
        raise InvalidArgument(
            "pass counts by groups, or histograms, of a curator: got a "
            f"{getattr(release, 'statistic', type(release).__name__)}"
        )
    if release.selection is not None:
        raise InvalidArgument(
            "the keys were drawn: a key that is not shown has no count, not even 0; give keys="
        )
    by = (release.by,) if isinstance(release.by, str) else release.by
    labels = _product([key if isinstance(release.by, tuple) else (key,) for key in release])
    if labels is None:
        raise InvalidArgument(f"the keys of {', '.join(by)} must be all combinations of lists")
    attributes = dict(zip(by, labels, strict=True))
    cells = [_noisy(each) for each in release.values()]
    first: Any = next(iter(release.values()))
    if isinstance(first, ArrayRelease):
        attributes[_column(first)] = first.labels
    return _marginal(attributes, np.concatenate([noisy for noisy, _ in cells]), cells[0][1])


def _noisy(release: Record) -> tuple[NDArray[np.float64], float]:
    """Return the counts with their noise, and the standard deviation of that."""
    said = release.error_model.to_dict()
    if release.statistic not in {"count", "histogram"} or "noisy" not in said:
        raise InvalidArgument(
            f"a marginal is made of counts of rows, not of a {release.statistic} of {release.unit}"
        )
    noisy: Any = said["noisy"]
    stddev: Any = said["noise_sd"]
    return np.atleast_1d(np.array(noisy, np.float64)), float(stddev)


def _column(release: Record) -> str:
    if release.column is None:
        raise InvalidArgument("a histogram of an array has no name: release it from a table")
    return release.column


def _product(keys: Sequence[tuple[Hashable, ...]]) -> list[Labels] | None:
    """Return the lists of which the keys are all combinations, in C order."""
    lists = [tuple(dict.fromkeys(column)) for column in zip(*keys, strict=True)]
    return lists if list(product(*lists)) == list(keys) else None


def _marginal(
    labels: dict[str, Labels], noisy: NDArray[np.float64], stddev: float
) -> tuple[dict[str, Labels], Marginal]:
    return labels, Marginal(tuple(labels), tuple(noisy.tolist()), stddev)
