"""A file of questions: read and checked, and then planned, costed or run."""

from __future__ import annotations

import hashlib
import inspect
import os
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from modicum.errors import InvalidArgument, SourceError
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.unit import Unit, unit_of
from modicum.questions.costs import QuestionCosts, costs_of
from modicum.questions.planning import QuestionPlans, planned
from modicum.questions.question import PUBLISHED, Question, checked_fields, checked_title, naming
from modicum.questions.questionnaire import Questionnaire, Table
from modicum.questions.running import QuestionAnswers, answered
from modicum.sources.files import csv_file, excel_file

_FIELDS = ("title", "name", "table", "account", "unit", "csv", "publish", "question")
_UNIT = tuple(inspect.signature(unit_of).parameters)
_CSV = tuple(
    dict.fromkeys(
        name
        for opens in (csv_file, excel_file)
        for name in [*inspect.signature(opens).parameters][1:]
    )
)


@dataclass(frozen=True, slots=True)
class QuestionFile(Questionnaire):
    r"""A file of questions, all of whose fields are checked; made by :func:`read`.

    Attributes
    ----------
    path : Path
        Of the file.
    name : str
        Of the file without its ending, or its field ``name``: it is part of every key.
    title : str or None
        For people.
    table : Path or None
        The table that is asked, relative to the file.
    account : str or None
        The account of a ledger that is charged.
    unit : Unit or None
        Who is protected; the account has to protect the same.
    questions : tuple of Question
        In the order of the file.
    digest : str
        The SHA-256 of the file.
    csv : mapping
        How a CSV table or a workbook is read: arguments of :func:`modicum.csv_file` or
        :func:`modicum.excel_file`.

    Examples
    --------
    >>> import modicum as mo, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ages.toml"
    >>> question = '[[question]]\nname = "rows"\nstatistic = "count"\nepsilon = 0.5\n'
    >>> _ = path.write_text(f"{question}expect = {{n = 900}}\n")
    >>> str(mo.questions.read(path).plan()).splitlines()[0]
    'plan of ages.toml: 1 question; nothing is read or spent'
    """

    def plan(self) -> QuestionPlans:
        """Predict the errors of the answers, and say their costs; no data are read.

        A question is planned if it has ``expect``: a table with ``n``, the number of rows (of a
        group, if there are groups), ``sd``, their standard deviation, and what else its plan in
        :mod:`modicum.plan` takes of the data. The noise of a crosstab of given labels, or of a
        number of labels, needs no ``expect``.

        Returns
        -------
        QuestionPlans
            Printed, a table of them.
        """
        return planned(self)

    def cost(
        self,
        table: Table | None = None,
        *,
        ledger: Ledger | str,
        account: str | None = None,
    ) -> QuestionCosts:
        """Check all questions against the table and the ledger, as :meth:`run` does first.

        Nothing is read of the table but its columns and their types, and nothing is charged.

        Parameters
        ----------
        table, ledger, account
            As for :meth:`run`.

        Returns
        -------
        QuestionCosts
            What each question costs, and what of it is charged already.

        Raises
        ------
        ModicumError
            As :meth:`run`, before anything is charged.
        """
        return costs_of(self, self._opened(table), _ledger(ledger), self._charged(account))

    def run(
        self,
        table: Table | None = None,
        *,
        ledger: Ledger | str,
        account: str | None = None,
        out: str | os.PathLike[str] | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> QuestionAnswers:
        """Check all questions, and answer them, each under a key of its own.

        A question that was answered before gets its recorded answer again: a file can be run as
        often as needed, after a crash for example, and each question is charged once. A question of
        a name that was charged with other fields is refused: another question has another name.

        Parameters
        ----------
        table : table or path, optional
            In place of the field ``table``.
        ledger : str or Ledger
            Its URL.
        account : str, optional
            In place of the field ``account``.
        out : path, optional
            The folder of the answers, by default that of the file, with ``-answers`` after its
            name. It is made, or has to be empty, or to be that of an earlier run of the file.
        progress : callable, optional
            Called with a line for each question.

        Returns
        -------
        QuestionAnswers
            The releases by name, and refusals. A question may be refused after the check because
            others spent the budget meanwhile, or the ledger cannot be written.

        Raises
        ------
        ModicumError
            Before anything is charged: for a question that cannot be asked of the table
            (InvalidArgument, MissingColumn, UnsupportedData), if all that is not charged yet costs
            more than is left (BudgetExceeded), if the ledger or the table cannot be read
            (LedgerError, SourceError). The message names the question and the field.
        """
        source, book, name = self._opened(table), _ledger(ledger), self._charged(account)
        folder = self.path.with_name(f"{self.path.stem}-answers") if out is None else Path(out)
        costs = costs_of(self, source, book, name)
        return answered(self, source, book, costs, folder, progress or (lambda _: None))


def read(path: str | os.PathLike[str]) -> QuestionFile:
    r"""Read a file of questions, and check all that needs no table.

    Parameters
    ----------
    path : path
        A TOML file; :doc:`/operate/question-files` describes its fields.

    Returns
    -------
    QuestionFile

    Raises
    ------
    InvalidArgument
        For an unknown field or statistic, or a value that cannot be used; the message names the
        question and the field.
    SourceError
        If the file cannot be read, or is no TOML.

    Examples
    --------
    >>> import modicum, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ages.toml"
    >>> question = '[[question]]\nname = "rows"\nstatistic = "count"\nepsilon = 0.5\n'
    >>> _ = path.write_text(f'table = "people.csv"\naccount = "people"\n{question}')
    >>> [each.name for each in modicum.questions.read(path).questions]
    ['rows']
    """
    place = Path(path)
    try:
        data = place.read_bytes()
        text = tomllib.loads(data.decode("utf-8-sig"))
    except OSError as error:
        raise SourceError(f"cannot read {place}: {error.strerror or error}") from None
    except RecursionError:
        raise SourceError(f"{place.name} is nested too deeply for a file of questions") from None
    except ValueError as error:  # UnicodeDecodeError and TOMLDecodeError
        raise SourceError(f"{place.name} is no TOML file: {error}") from None
    fields = checked_fields(text, _FIELDS, place.name)
    for name in ("title", "table", "account"):
        if not isinstance(fields.get(name, ""), str):
            raise InvalidArgument(f"{place.name}, {name}: it must be text, got {fields[name]!r}")
    given = fields.get("question")
    if not isinstance(given, list) or not given:
        raise InvalidArgument(f"{place.name}, question: there is none; write [[question]]")
    publish = checked_fields(fields.get("publish", {}), PUBLISHED, f"{place.name}, publish")
    questions = tuple(
        Question.of(each, f"{place.name}, question {i}", publish) for i, each in enumerate(given, 1)
    )
    names = Counter(each.name.casefold() for each in questions)
    for each in questions:
        if names[each.name.casefold()] > 1 or each.name.casefold() == "run":
            raise InvalidArgument(f"{each.where}, name: it is taken; names differ without case too")
    table = fields.get("table")
    return QuestionFile(
        place,
        checked_title(fields.get("name", place.stem), place.name),
        fields.get("title"),
        None if table is None else place.parent / table,
        fields.get("account"),
        _unit(fields.get("unit"), f"{place.name}, unit"),
        questions,
        hashlib.sha256(data).hexdigest(),
        checked_fields(fields.get("csv", {}), _CSV, f"{place.name}, csv"),
    )


def _unit(given: object, where: str) -> Unit | None:
    if given is None:
        return None
    fields = checked_fields(given, _UNIT, where)
    with naming(where):
        return unit_of(**fields)


def _ledger(ledger: Ledger | str) -> Ledger:
    return ledger if isinstance(ledger, Ledger) else Ledger(ledger)
