"""Changes of JSON that know what JSON is: of values, types, names, lists, and of the text."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

_DEEP: Any = "end"
for _ in range(400):
    _DEEP = [_DEEP]
_VALUES = (
    None, True, False, 0, 1, -1, 2**63, 10**400, 0.0, -0.0, 0.5, 1e308, 5e-324, float("nan"),
    float("inf"), "", "x", "<b>", "\ud800", "0", "1/0", "-1/3", "1e10000000", "nan", "inf", "ok",
    [], {}, [0], ["x"], {"x": 1}, {"fraction": "1e10000000"}, {"fraction": "1/0"},
    {"float": "nan"}, {"float": "inf"}, {"tuple": []}, {"map": [[[], 1]]}, {"Unit": {"rows": 3}},
    _DEEP,
)  # fmt: skip


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where there is a value in a tree, but for its root."""
    if path:
        yield path
    if isinstance(tree, dict):
        for name, each in tree.items():
            yield from places(each, (*path, name))
    elif isinstance(tree, list):
        for number, each in enumerate(tree):
            yield from places(each, (*path, number))


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        tree = tree[step]
    return tree


def mutated(text: str, draws: random.Random, within: tuple[Any, ...] = ()) -> str:
    """Change one thing of a text; of a part of the tree, if that is named."""
    if not within and draws.random() < 0.1:
        return _of_text(text, draws)
    tree = json.loads(text)
    path = (*within, *draws.choice([*places(at(tree, within))]))
    where, last = at(tree, path[:-1]), path[-1]
    change = draws.choice(("value", "value", "near", "delete", "insert", "rename", "copy"))
    if change == "delete":
        del where[last]
    elif change == "insert":
        if isinstance(where, list):
            where.insert(last, draws.choice([where[last], *_VALUES]))
        else:
            where[draws.choice(["x", "value", "stored", "tuple"])] = draws.choice(_VALUES)
    elif change == "rename" and isinstance(where, dict):
        where[draws.choice([*where, "x"])] = where.pop(last)
    elif change == "copy":
        where[last] = copy.deepcopy(at(tree, draws.choice([*places(tree)])))
    elif change == "near":
        where[last] = _near(where[last], draws)
    else:
        where[last] = draws.choice(_VALUES)
    return json.dumps(tree)


def _near(value: Any, draws: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return draws.choice([value + 1, -value, value * 1.5, str(value)])
    if isinstance(value, str):
        return draws.choice([value + "x", value[1:], value.upper(), f"{value}0"])
    if isinstance(value, list):
        return value[::-1]
    return [value]


def _of_text(text: str, draws: random.Random) -> str:
    place = draws.randrange(len(text))
    end = min(len(text), place + draws.choice([1, 3, 50]))
    return draws.choice(
        [
            text[:place],
            text[:place] + text[end:],
            text[:place] + draws.choice('0"{}[],:e') + text[end:],
            text[:end] + text[place:],
            text.replace("1", "1" * 5000, 1),
            "[" * 5000 + text,
        ]
    )
