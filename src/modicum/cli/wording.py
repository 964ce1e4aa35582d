"""Messages of the library in the words of the command line: options in place of arguments."""

from __future__ import annotations

import re
from collections.abc import Collection

_PHRASES = {
    "give the curator a budget of kind 'zcdp'": "charge an account that was made with --rho",
    "give the curator a budget of kind 'approx', modicum.approx(epsilon, delta)": (
        "charge an account that was made with --epsilon and --delta"
    ),
    "epsilon=, rho= or budget=": "--epsilon, with or without --delta, or --rho",
    "give one of keys=, a table": "give one of --keys-file, a table",
    "budget=modicum.approx(2, '1e-6')": "--epsilon 2 --delta 1e-6",
    "key_budget=modicum.approx(...)": "--key-epsilon and --key-delta",
    "give either edges, or bins": "give either --edges, or --bins",
    "by group_by(...).count or `modicum": "by `modicum",
    "overwrite=True (--overwrite)": "--overwrite",
    "frame() has the 95 % interval": "--json has the 95 % interval",
}
_BOTH = re.compile(r"\b\w+=\S+ \((--[^()]*)\)")
_ARGUMENT = re.compile(
    r"(?<!\w)(?:'[^']*'|\"[^\"]*\"|`[^`]*`)"  # what is quoted
    r"|(?<![\w.(-])(?P<name>[a-z_]+)=(?!=|[\w.]+\()"
    r"(?:[\[(](?P<several>[^\])]*)[\])]|'(?P<text>[^']*)'|(?P<one>[\w./^-]+))?"
)


def on_the_command_line(text: str, options: Collection[str]) -> str:
    """Write arguments of functions as the options of their names; what is quoted stays.

    Examples
    --------
    >>> known = {"--edges", "--bins", "--max-rows"}
    >>> on_the_command_line("give edges=[0, 18] or bins=10, not 'bins=1' or other=3", known)
    "give --edges 0,18 or --bins 10, not 'bins=1' or other=3"
    >>> on_the_command_line("max_rows= is needed", known)
    '--max-rows is needed'
    """
    for phrase, said in _PHRASES.items():  # lines may break in one
        text = re.sub(r"\s+".join(map(re.escape, phrase.split())), said, text)
    text = _BOTH.sub(r"\1", text)

    def option(found: re.Match[str]) -> str:
        name = "--" + (found["name"] or "").replace("_", "-")
        if name not in options:
            return found[0]
        value = (found["several"] or found["text"] or found["one"] or "").replace(", ", ",")
        return name if value in {"", "True"} else f"{name} {value}"

    return _ARGUMENT.sub(option, text)
