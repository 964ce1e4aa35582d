"""Run the questions of a file, one after the other, each under a key of its own.

The ledger records a charge before the draw and the release after it, under the key. So a question
is charged once whatever happens in between, and files of answers can be written again at any time:
they follow from what the ledger holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from modicum import errors, version
from modicum.api.curator import Curator
from modicum.api.tables.description import Description
from modicum.api.tables.table_release import Crosstab
from modicum.privacy.ledger import book, store
from modicum.questions.costs import QuestionCosts, aligned
from modicum.questions.question import DESCRIBE, N_DISTINCT, WHOLE_TABLE, Question
from modicum.questions.questionnaire import Questionnaire
from modicum.releases.array_release import ArrayRelease
from modicum.releases.grouped_release import GroupedArrayRelease, GroupedRelease
from modicum.releases.publishing.files import write_whole
from modicum.releases.release import Release
from modicum.sources.base import Source

Answer = Release | ArrayRelease | GroupedRelease | GroupedArrayRelease | Crosstab | Description
State = Literal["answered", "not written", "refused", "not asked"]
_INDEX = "run.json"


@dataclass(frozen=True, slots=True)
class Asking:
    """What became of a question; ``why`` says it if it has no answer, or no files.

    ``paid`` is whether it was charged by an earlier run, and not by this one.
    """

    question: Question
    state: State
    answer: Answer | None = None
    why: str = ""
    paid: bool = False

    @property
    def progress(self) -> str:
        """The state, without the answer."""
        if self.state != "answered":
            return self.words
        return "answered; it was charged before, and costs nothing now" if self.paid else self.state

    @property
    def words(self) -> str:
        """The state, and the first line of the answer."""
        if self.answer is None or self.why:
            return f"{self.state}: {self.why}" if self.why else self.state
        return str(self.answer).partition("\n")[0]

    def to_dict(self, file: str) -> dict[str, Any]:
        """What the list of a run says of it."""
        question, keys = self.question, self.question.key_budget
        return {
            "name": question.name,
            "question": question.about,
            "key": question.key(file),
            "cost": str(question.cost),
            **({} if keys is None else {"keys_cost": str(keys)}),
            "state": self.state,
            "usable": None if self.answer is None else self.answer.usable,
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class QuestionAnswers:
    r"""The answers of a file of questions.

    Attributes
    ----------
    file : Questionnaire
        What was asked.
    account : str
        Which account was charged.
    folder : Path
        Where the answers are.
    askings : tuple of Asking
        In the order of the file: ``question``, ``state``, ``answer`` and ``why``.

    Examples
    --------
    >>> import modicum as mo, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> question = '[[question]]\nname = "rows"\nstatistic = "count"\nepsilon = 0.5\n'
    >>> _ = (folder / "ages.toml").write_text(f'account = "people"\n{question}')
    >>> url = f"sqlite:///{folder}/budget.db"
    >>> account = mo.Ledger.create(url).open_account("people", mo.pure(1))
    >>> done = mo.questions.read(folder / "ages.toml").run([40.0] * 900, ledger=url)
    >>> done.complete, 800 < done.answers["rows"].value < 1000
    (True, True)
    """

    file: Questionnaire
    account: str
    folder: Path
    askings: tuple[Asking, ...]

    @property
    def answers(self) -> Mapping[str, Answer]:
        """Releases by the names of their questions."""
        return {each.question.name: each.answer for each in self.askings if each.answer is not None}

    @property
    def complete(self) -> bool:
        """Whether every question has its answer, and its files."""
        return all(each.state == "answered" for each in self.askings)

    @property
    def usable(self) -> bool:
        """Whether all answers can be used; of groups, whether any can."""
        return all(each.usable for each in self.answers.values())

    def to_json(self) -> str:
        """Write what became of every question as one JSON object (``schema: modicum.run/1``).

        It is the file ``run.json`` of the folder; the answers are in files of their own.
        """
        file = self.file
        record = {
            "schema": "modicum.run/1",
            "version": version.VERSION,
            "name": file.name,
            "title": file.title,
            "file": file.path.name,
            "file_sha256": file.digest,
            "account": self.account,
            "complete": self.complete,
            "questions": [each.to_dict(file.name) for each in self.askings],
        }
        return json.dumps(record, ensure_ascii=False, indent=1)

    def __str__(self) -> str:
        there = sum(each.state == "answered" for each in self.askings)
        rows = [(each.question.name, each.words) for each in self.askings]
        before = sum(each.paid for each in self.askings if each.state == "answered")
        paid = f"; {before} of them charged before, which cost nothing now" if before else ""
        return "\n".join(
            [
                f"{self.file.path.name}: {there} of {len(rows)} answered, in {self.folder}{paid}",
                *aligned(rows),
            ]
        )


def answered(
    file: Questionnaire,
    source: Source,
    ledger: book.Ledger,
    costs: QuestionCosts,
    folder: Path,
    progress: Callable[[str], None],
) -> QuestionAnswers:
    """Answer all questions, which were checked, and write each answer when it is there."""
    account = costs.account.name
    found = QuestionAnswers(
        file, account, folder, tuple(Asking(q, "not asked") for q in file.questions)
    )
    _take(found)
    curator = Curator(source, ledger=ledger, account=account)
    for place, question in enumerate(file.questions):
        asking, goes_on = _asked(file, curator, folder, question)
        asking = replace(asking, paid=costs.costs[place].is_paid)
        found = _with_asking(found, place, asking)
        try:
            write_whole({folder / _INDEX: found.to_json() + "\n"})
        except errors.OutputError as error:
            goes_on = False
            if asking.state == "answered":
                asking = replace(asking, state="not written", why=str(error))
                found = _with_asking(found, place, asking)
        progress(f"[{place + 1}/{len(file.questions)}] {question.name}: {asking.progress}")
        if not goes_on:
            break
    return found


def _with_asking(found: QuestionAnswers, place: int, asking: Asking) -> QuestionAnswers:
    """Return the same with what became of one question."""
    askings = (*found.askings[:place], asking, *found.askings[place + 1 :])
    return replace(found, askings=askings)


def _asked(
    file: Questionnaire, curator: Curator, folder: Path, question: Question
) -> tuple[Asking, bool]:
    """Ask one question, and write its files; whether to go on with the others.

    What the ledger, the data or the disk refuse, they refuse all the others too.
    """
    try:
        answer = _ask(curator.idempotent(question.key(file.name)), question)
    except errors.ModicumError as error:
        why = store.without_passwords(" ".join(str(error).split()))
        return Asking(question, "refused", None, why), not isinstance(error, OSError)
    text, numbers = f"{answer}\n", answer.to_json(indent=1) + "\n"
    files = {folder / f"{question.name}.txt": text, folder / f"{question.name}.json": numbers}
    publishing, wide = question.publication.publishing, question.publication.wide
    why = ""
    try:
        files |= publishing.table(answer).files(folder / f"{question.name}.csv", wide)
    except errors.ModicumError as error:
        why = f"publish: {error}"
    try:
        write_whole(files)
    except errors.OutputError as error:
        return Asking(question, "not written", answer, str(error)), False
    return Asking(question, "not written" if why else "answered", answer, why), True


def _ask(curator: Curator, question: Question) -> Answer:
    for view in question.views:
        made = dict(view.columns)
        curator = curator.with_columns(**made) if made else curator.where(str(view.condition))
    if question.query is None or question.statistic in WHOLE_TABLE:
        return _of_table(curator, question)
    if not question.by:
        found: Answer = curator.run(question.query)
        return found
    groups = curator.group_by(
        *question.by,
        keys=question.keys,
        key_budget=question.key_budget,
        max_groups=question.max_groups,
    )
    answer: Answer = groups.run(question.query)
    return answer


def _of_table(curator: Curator, question: Question) -> Release | Crosstab | Description:
    """Ask a question about a whole table."""
    cost, groups = question.cost, question.max_groups
    if question.statistic == DESCRIBE:
        return curator.describe(question.columns, budget=cost)
    if question.statistic == N_DISTINCT:
        return curator.n_distinct(*question.columns or (), max_groups=groups, budget=cost)
    method = getattr(curator, question.statistic)
    found: Crosstab = method(
        *question.by,
        keys=question.keys,
        key_budget=question.key_budget,
        max_groups=groups,
        budget=cost,
        **question.options,
    )
    return found


def _take(run: QuestionAnswers) -> None:
    """Make the folder; one that holds something else is refused."""
    folder, file = run.folder, run.file
    try:
        if folder.is_dir() and any(map(_is_kept, folder.iterdir())) and not _is_ours(run):
            raise errors.InvalidArgument(
                f"the folder {folder} holds other files than answers of {file.path.name} for "
                f"account {run.account!r}: name another one"
            )
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise errors.OutputError(
            f"cannot write in {folder}: {error.strerror}; nothing was asked"
        ) from None
    write_whole({folder / _INDEX: run.to_json() + "\n"})


def _is_kept(file: Path) -> bool:
    """Whether a file is more than what a first run, perhaps a killed one, is about to put there."""
    return not (file.name.startswith(f".{_INDEX}.") and file.name.endswith(".part"))


def _is_ours(run: QuestionAnswers) -> bool:
    """Whether the folder is of an earlier run of the same file."""
    try:
        index = json.loads((run.folder / _INDEX).read_text(encoding="utf-8"))
        return (index["name"], index["account"]) == (run.file.name, run.account)
    except (OSError, ValueError, LookupError, TypeError):
        return False
