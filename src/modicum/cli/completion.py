"""The verb ``completion``: a script that completes the words of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from modicum.cli import options, tasks
from modicum.errors import InvalidArgument

_SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")
_FILES = {"file", "keys_file", "out", "to", "publish", "report", "table", "questions"}
_ABOUT = """\
Print a script that completes verbs, options and file names when Tab is pressed. Load it
where the shell starts, and again after an update.
"""
_EXAMPLES = """\
examples:
  bash   modicum completion bash > ~/.local/share/bash-completion/completions/modicum
  zsh    modicum completion zsh > ~/.zfunc/_modicum   (with fpath+=~/.zfunc before compinit)
  fish   modicum completion fish > ~/.config/fish/completions/modicum.fish
"""


def add_to(verbs: Any, whole: Callable[[], argparse.ArgumentParser]) -> None:
    """Add the verb; ``whole`` makes a parser of all verbs, which is changed here."""
    parser: argparse.ArgumentParser = verbs.add_parser(
        "completion",
        help=tasks.words_of("completion"),
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", metavar="SHELL", choices=_SHELLS, help=", ".join(_SHELLS))
    parser.set_defaults(answer=lambda arguments: _script(arguments.shell, whole()))


def _script(shell: str, whole: argparse.ArgumentParser) -> options.Output:
    if find_spec("shtab") is None:
        raise InvalidArgument("completion needs shtab: pip install shtab")
    shtab = import_module("shtab")
    for action in options.actions_of(whole):
        if isinstance(action.choices, dict):
            action.help = None  # what is suppressed is not completed
        if action.dest in _FILES and action.choices is None:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return options.Output(str(shtab.complete(whole, shell)).rstrip())
