"""How many people a shuffled protocol counts on."""

from __future__ import annotations

from modicum.local.arguments import integer

__all__ = ["crowd"]

_FEWEST, _MOST = 100, 1 << 24
_FEWEST_HONEST = 50


def crowd(clients: object, honest: object) -> tuple[int, int]:
    """Read how many clients there are at most, and how many at least follow the protocol.

    Examples
    --------
    >>> crowd(1000, None), crowd(1000, 400)
    ((1000, 900), (1000, 400))
    """
    people = integer(clients, "clients", _FEWEST, _MOST)
    nine_in_ten = people * 9 // 10
    enough = nine_in_ten if honest is None else integer(honest, "honest", _FEWEST_HONEST, people)
    return people, enough
