"""What a file of questions says, with all of its fields checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from modicum.errors import InvalidArgument
from modicum.privacy.unit import Unit
from modicum.questions.question import Question, naming
from modicum.sources import base, files, opening

Table = Any


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """Questions of one table and one account; see :class:`modicum.questions.QuestionFile`."""

    path: Path
    name: str
    title: str | None
    table: Path | None
    account: str | None
    unit: Unit | None
    questions: tuple[Question, ...]
    digest: str
    csv: Mapping[str, Any] = field(default_factory=dict)

    def _opened(self, table: Table | None = None) -> base.Source:
        """Open the table: the one that is given, or that of the file."""
        if table is None and self.table is None:
            raise InvalidArgument(f"{self.path.name}, table: it is missing, and no table was given")
        with naming(f"{self.path.name}, table"):
            if table is not None:
                return opening.open_source(table)
            if not self.csv:
                return opening.open_source(self.table)
        with naming(f"{self.path.name}, csv"):
            return files.open_as(str(self.table), self.csv)

    def _charged(self, account: str | None = None) -> str:
        """Name the account: the one that is given, or that of the file."""
        found = self.account if account is None else account
        if found is None:
            raise InvalidArgument(f"{self.path.name}, account: it is missing, and none was given")
        return found
