"""What every record can do with its numbers: be published, drawn, shown, written and read."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Self

from modicum import errors
from modicum.releases.publishing.answers import DRAWS, AnswerRows
from modicum.stored import codec, collector

if TYPE_CHECKING:
    from pathlib import Path

    from modicum.privacy.event import Event
    from modicum.releases.publishing.rounding import Base, Digits
    from modicum.releases.publishing.table import PublishedTable

_COSTS = ("cost", "delta", "epsilon", "rho")
_ELSEWHERE = {
    **dict.fromkeys(
        ("ci", "error", "margin", "se", "standard_error", "std", "stderr"),
        "interval(), half_width of it",
    ),
    **dict.fromkeys(("lower", "upper"), "interval() has both ends"),
    **dict.fromkeys(_COSTS, "event is what it cost, and event.amounts has the numbers"),
    **dict.fromkeys(("hist", "bar", "show"), "plot() draws it"),
    "value": "frame() has all of them",
    **dict.fromkeys(
        ("answer", "count", "estimate", "item", "mean", "median", "result", "sum"),
        "value is what was released, and of several answers frame() has all",
    ),
    "round": "round(release, 2), or publish(digits=2)",
    "n": "the number of rows is a question of its own, count()",
    "noise": "explain() says what was drawn, and interval() how far it may be off",
    "to_dict": "to_json() writes everything, and frame() has the numbers",
    **dict.fromkeys(("to_csv", "to_excel", "to_parquet"), "publish().to_csv(path)"),
}  # of what other libraries have, and what is here


class Publishable:
    """A record that can be published, drawn and shown, all of its :class:`AnswerRows`."""

    __slots__ = ()
    _internal: ClassVar[frozenset[str]] = frozenset(
        {"answers", "facts", "noise_ends", "shares_parts", "terms", "total_event"}
    )

    @abstractmethod
    def answers(
        self,
        level: float = 0.95,
        tail: float | Literal["auto"] | None = "auto",
        *,
        population: bool = False,
    ) -> AnswerRows:
        """Return all numbers in rows, with intervals: what tables, plots and reports are made of.

        Parameters
        ----------
        level, tail
            Of the intervals, as for ``interval()``.
        population : bool
            Return the intervals for the population.

        Returns
        -------
        AnswerRows
            Labels, values, ends and codes of every number, and the terms of the release.

        Raises
        ------
        InvalidArgument
            For an argument that cannot be used, or population intervals that were not bought.
        """

    @property
    @abstractmethod
    def total_event(self) -> Event:
        """What all of it cost the privacy unit, the draw of labels included."""

    @abstractmethod
    def facts(self) -> dict[str, object]:
        """Return what :meth:`to_json` says for people and other programs, as JSON types."""

    def to_json(self, indent: int | None = None) -> str:
        """Write everything as one JSON object, which :meth:`from_json` reads.

        Its ``schema`` names what it is; the reference has the JSON Schema of each. Exact rationals
        are strings such as ``"1/50"``. ``stored`` is the whole record as modicum stores it, in all
        digits; everything else follows from it.

        Parameters
        ----------
        indent : int, optional
            Spaces by which each level is indented; by default all is one line.

        Returns
        -------
        str
            JSON without NaN or infinities.

        Raises
        ------
        InvalidArgument
            If ``indent`` is no whole number, such as the path of a file.

        Examples
        --------
        >>> import json, modicum as mo
        >>> count = mo.count([1.0] * 4567, epsilon=1)
        >>> json.loads(count.to_json())["schema"], mo.Release.from_json(count.to_json()) == count
        ('modicum.release/2', True)
        """
        if not (indent is None or isinstance(indent, int)):
            raise errors.InvalidArgument(
                f"to_json() returns text, and takes the number of spaces to indent, got "
                f"{errors.as_given(indent)}: write the text to a file, or publish().to_csv(path)"
            )
        return collector.at_rest(lambda: codec.to_json(self, self.facts(), indent))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a record that :meth:`to_json` wrote: the same record, with all its methods.

        Parameters
        ----------
        text : str
            The JSON, as of a file or of the option ``--json`` of the command line.

        Raises
        ------
        InvalidArgument
            If it is something else, a record of another kind, or was edited so that what it says is
            not what it stores.

        Examples
        --------
        >>> import modicum as mo
        >>> count = mo.count([1.0] * 4567, epsilon=1)
        >>> mo.Release.from_json(count.to_json()) == count
        True
        """
        record: Self = codec.of_json(text, cls)
        return record

    @errors.says_how(
        "publish(digits=2)", round="digits=2", decimals="digits=2", confidence="level=0.9"
    )
    def publish(
        self,
        *,
        digits: Digits = "auto",
        base: Base | None = None,
        suppress: Mapping[str, object] | None = None,
        unreliable: Mapping[str, object] | None = None,
        level: float = 0.95,
        tail: float | Literal["auto"] | None = "auto",
        population: bool = False,
        title: str | None = None,
        citation: str | None = None,
        rights: str | None = None,
    ) -> PublishedTable:
        """Make a table for print and for other programs: rounded, flagged, with its terms.

        Only released numbers are used, so it costs nothing and can be done again in another way.

        Parameters
        ----------
        digits : int, "auto" or None
            ``"auto"``: the digits that each interval supports, to a tenth of the leading digit of
            half of its width. A number of decimal places, such as 2, or -3 for thousands.
            ``None``: all digits. The ends of intervals are rounded outwards.
        base : number, optional
            In place of ``digits``: round to multiples of it, such as 5.
        suppress : mapping, optional
            Which numbers are left out: ``{"below": 10}``, values below 10; ``{"wider": 0.5}``,
            intervals wider than half of the value; ``{"unusable": False}`` keeps answers that
            cannot be used, which are left out otherwise. The rules protect nobody: the noise does.
        unreliable : mapping, optional
            Rules of the same kind, ``below`` and ``wider``, for numbers that are kept and marked.
            Those whose code is not ``"ok"`` always are.
        level, tail
            Of the intervals, as for ``interval()``.
        population : bool
            Publish the intervals for the population, if these were bought.
        title : str, optional
            In place of one that says the statistic and the column.
        citation, rights : str, optional
            How to cite the table, and who may use it how, for the metadata.

        Returns
        -------
        PublishedTable
            Printed it is a table; ``frame()`` and ``to_csv(path)`` have it long, or ``wide=`` in
            one of its labels.

        Raises
        ------
        InvalidArgument
            For an argument that cannot be used, or population intervals that were not bought.

        Notes
        -----
        Numbers are rounded independently of each other: rounded parts need not add up to a rounded
        total. Flags are those of SDMX: A normal, U low reliability, Q suppressed.

        Examples
        --------
        >>> import modicum as mo
        >>> count = mo.count([1.0] * 4567, epsilon="0.1")
        >>> table = count.publish(base=50, citation="Statistics Office, 2026")
        >>> table.frame()[0]["value"] in {4450.0, 4500.0, 4550.0, 4600.0, 4650.0}
        True
        """
        from modicum.releases.publishing import table

        publishing = table.Publishing.of(
            digits=digits,
            base=base,
            suppress=suppress,
            unreliable=unreliable,
            level=level,
            tail=tail,
            population=population,
            title=title,
            citation=citation,
            rights=rights,
        )
        return publishing.table(self)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        author: str | None = None,
        digits: Digits = "auto",
        base: Base | None = None,
        suppress: Mapping[str, object] | None = None,
        unreliable: Mapping[str, object] | None = None,
        level: float = 0.95,
        tail: float | Literal["auto"] | None = "auto",
        population: bool = False,
        title: str | None = None,
        citation: str | None = None,
        rights: str | None = None,
        overwrite: bool = False,
    ) -> Path:
        """Write a page about the release that needs nothing else, to read, print, sign and keep.

        It has the numbers and intervals in words and as a picture, what they assume, what was
        promised to whom, what is left of the budget, what the numbers do not say, how they were
        made, how to cite them, and the whole record for programs. Only released numbers are on it,
        so it costs nothing.

        Parameters
        ----------
        path : path
            The file, such as ``"income.html"``.
        author : str, optional
            Who answers for the numbers.
        digits, base, suppress, unreliable, level, tail, population, title, citation, rights
            As for :meth:`publish`. What is left out of the page is in the record still.
        overwrite : bool
            Replace a file of this name.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InvalidArgument
            For an argument that cannot be used, a file that is there, or a folder that is not.
        OutputError
            If the file cannot be written; there is then no half file.

        Examples
        --------
        >>> import modicum as mo, tempfile
        >>> path = mo.count([1.0] * 4567, epsilon="0.1").report(f"{tempfile.mkdtemp()}/count.html")
        >>> "What the numbers do not say" in path.read_text("utf-8")
        True
        """
        from modicum.releases.publishing import table

        publishing = table.Publishing.of(
            digits=digits,
            base=base,
            suppress=suppress,
            unreliable=unreliable,
            level=level,
            tail=tail,
            population=population,
            title=title,
            citation=citation,
            rights=rights,
        )
        from modicum.releases.publishing import report

        page = report.Report.of(publishing, author)
        written: Path = page.to_file(self, path, overwrite=overwrite)
        return written

    def to_registry(
        self,
        *,
        data_curators: Sequence[str],
        registry_authors: Sequence[str],
        intended_use: str,
        data_product_region: str,
        name: str | None = None,
        description: str | None = None,
        publication_date: date | str | None = None,
        data_product_sector: str | None = None,
        sources: str | None = None,
        notes: str | None = None,
    ) -> dict[str, Any]:
        """Return an entry of the Differential Privacy Deployments Registry, as JSON types.

        Everything that the release knows is in it: the variant, the privacy unit, the parameters,
        how costs add up, and the mechanisms. It uses public facts only, and costs nothing. Written
        as JSON it is YAML, the registry's format.

        Parameters
        ----------
        data_curators, registry_authors : list of str
            Who publishes the numbers; who fills in the entry.
        intended_use, data_product_region : str
            What they are for; which region they describe.
        name, description : str, optional
            In place of ones that say the statistic and the column.
        publication_date : date or str, optional
            Default: today.
        data_product_sector, sources, notes : str, optional
            As the registry says; left out by default.

        Returns
        -------
        dict
            A draft, of the second of the registry's three tiers.

        Raises
        ------
        InvalidArgument
            For an argument that cannot be used.

        Examples
        --------
        >>> import modicum as mo
        >>> count = mo.count([1.0] * 4567, epsilon="0.1")
        >>> entry = count.to_registry(
        ...     data_curators=["Statistics Office"],
        ...     registry_authors=["A. Steward"],
        ...     intended_use="Planning of schools",
        ...     data_product_region="Utopia",
        ... )
        >>> entry["deployment"]["privacy_loss"]["privacy_parameters"]
        {'epsilon': 0.1}
        """
        from modicum.releases.publishing import registry

        entry = registry.RegistryEntry(
            data_curators=data_curators,
            registry_authors=registry_authors,
            intended_use=intended_use,
            data_product_region=data_product_region,
            name=name,
            description=description,
            publication_date=publication_date,
            data_product_sector=data_product_sector,
            sources=sources,
            notes=notes,
        )
        filled: dict[str, Any] = entry.of(self)
        return filled

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from modicum.releases.publishing import html

        text: str = html.record_html(self.answers())
        return text

    def frame(self) -> Any:
        """Return a table with the columns of labels, value, lower, upper (95 %) and usable.

        It is a table of the library that the data came in: pandas, Polars or PyArrow (for DuckDB
        PyArrow, or pandas). Data of any other kind get a list of dicts.
        """
        found = self.answers()
        ends = {"value": found.values, "lower": found.lower, "upper": found.upper}
        return found.make({**found.labels, **ends, "usable": found.usable})

    @DRAWS
    def plot(
        self,
        ax: Any = None,
        *,
        level: float = 0.95,
        tail: float | Literal["auto"] | None = "auto",
        most: int = 40,
    ) -> Any:
        """Draw every number as a point with its interval, the largest on top.

        Only released numbers are drawn, so it costs nothing. It needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        level, tail
            Of the intervals, as for ``interval()``.
        most : int
            How many numbers are shown at most: those with the largest values. The title says so.

        Returns
        -------
        matplotlib Axes
            With a title and names of its axes, which can be changed. A number that cannot be used
            is a cross, and an interval that goes on beyond the axis ends in an arrow.

        Raises
        ------
        InvalidArgument
            Without matplotlib, or for an argument that cannot be used.
        """
        from modicum.releases.publishing import plots

        return plots.ranked(plots.drawn(self.answers(level, tail)), ax, most)

    def __dir__(self) -> list[str]:
        """Names that a user needs; the others can be reached too."""
        kinds = type(self).__mro__
        hidden = {name for kind in kinds for name in kind.__dict__.get("_internal", ())}
        return [name for name in dir(type(self)) if name[0] != "_" and name not in hidden]

    if not TYPE_CHECKING:  # or every attribute would seem to exist

        def __getattr__(self, name: str) -> NoReturn:
            if name in _COSTS and hasattr(type(self), "cost"):
                raise errors.no_attribute(self, name, {name: "cost is what all of it cost"})
            raise errors.no_attribute(self, name, _ELSEWHERE)

        def __getitem__(self, name: object) -> NoReturn:
            found = name if isinstance(name, str) and name in dir(self) else "value"
            raise errors.WrongCall(f"this has attributes and no items: write release.{found}")
