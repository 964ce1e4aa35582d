"""What a verb writes."""

from __future__ import annotations

from typing import NamedTuple


class Output(NamedTuple):
    """Text for standard output, and whether the answer in it can be used."""

    text: str
    usable: bool = True
