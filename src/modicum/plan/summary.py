"""Plans: a record of what a release would cost, made again at other costs, and shown on a page."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from modicum.errors import InvalidArgument
from modicum.plan.curve import PlanCurve, checked_values
from modicum.plan.record import PlanRecord, said
from modicum.privacy.budget import Number
from modicum.releases.publishing.files import checked_target, write_whole
from modicum.releases.publishing.html import card, facts


class Plan(PlanRecord):
    """What a release would cost and how far it would be off.

    Attributes
    ----------
    statistic, method : str
        As on a release.
    budget : Budget
        The cost, given or found.
    unit : Unit
        Who would be protected.
    n : int
        Number of rows, given or found.
    error : float
        Expected absolute error of the release against the same statistic without privacy; an
        average if the release is several numbers.
    wanted : float or None
        The error that was given; ``error`` is at most that, but for simulation noise.
    interval_width : float
        Median width of the 95 % interval; infinite if it has no bound.
    passes : int
        Most passes over the data in any run.
    events : tuple of (str, Event)
        The draws of a run that draws what most do, and what each costs a row.
    status : str
        ``"ok"``, or the warning that releases of this kind would carry.
    usable : bool
        Whether most of them would have an answer that can be used.
    lattice : Lattice or None
        The public range and step; ``None`` for a count.
    shape : Shape, TableShape or None
        The assumed data; ``None`` for a count. Its attributes are the guesses ``name``, ``mean``
        and ``sd`` of one column, or ``sd``, ``correlation`` and ``mean`` of several.
    sampling_error : float or None
        Of a mean or another location: the standard error sd / sqrt(n) which the data have as a
        sample, privacy or not.
    q : Fraction, tuple of Fraction or None
        Which quantile, or which ones.
    trim : Fraction or None
        Share of the records beyond each trim point of a trimmed or a winsorized mean.
    cuts : tuple of float or None
        Edges of the bins of a histogram, or points of a distribution function.
    bins : int or None
        How many bins a histogram has whose edges are drawn.
    meaning : str or None
        What the error is, where it is one number for several columns together.
    noun : str
        The statistic in words, such as ``"a standard deviation"``.
    asked : PlannedQuestion
        The question, and the guess of the data.

    Examples
    --------
    >>> import modicum as mo
    >>> plan = mo.plan.count(n=10_000, epsilon="0.5")
    >>> str(plan.budget), plan.usable, 1.5 < plan.error < 2.5
    ('ε = 0.5', True, True)
    """

    __slots__ = ()

    def curve(
        self,
        *,
        epsilon: Iterable[Number] | None = None,
        rho: Iterable[Number] | None = None,
        n: Iterable[int] | None = None,
    ) -> PlanCurve[Plan]:
        """Plan the same for several costs, or for several numbers of rows.

        Parameters
        ----------
        epsilon, rho : list of number, optional
            Costs, for the number of rows of this plan.
        n : list of int, optional
            Numbers of rows, for the budget of this plan.

        Returns
        -------
        PlanCurve
            A table; ``frame()`` has its rows, and ``plot()`` draws it.

        Raises
        ------
        InvalidArgument
            Unless exactly one of them is given; for numbers that a plan refuses.

        Examples
        --------
        >>> from modicum import plan
        >>> found = plan.mean(n=10_000, sd=5, epsilon=1).curve(n=[1_000, 100_000])
        >>> found[0].error > 20 * found[1].error
        True
        """
        name, values = checked_values(epsilon=epsilon, rho=rho, n=n)
        if self.asked is None:
            raise InvalidArgument("this plan does not say how it was made: make it with plan.mean")
        fixed = {"budget": self.budget} if name == "n" else {"n": self.n}
        plans = (self.asked.again(**fixed, **{name: each}) for each in values)
        return PlanCurve(name, tuple(plans))

    def report(
        self, path: str | os.PathLike[str], *, title: str | None = None, overwrite: bool = False
    ) -> Path:
        """Write a page that shows the error at other costs and numbers of rows too.

        It needs nothing else, no network either: sliders for the cost and the number of rows, the
        error and the interval as curves and as tables, what is assumed, and how the question is
        asked in Python and on the command line. The plan is made again for some 60 pairs of a
        cost, from a hundredth to ten times that of this plan, and a size, from a hundredth to a
        hundred times; between them the page interpolates. That takes up to about 20 seconds. No
        data are read, so the page costs nothing and may be shown to anyone.

        Parameters
        ----------
        path : path
            The file, such as ``"plan.html"``.
        title : str, optional
            In place of what was planned.
        overwrite : bool
            Replace a file of this name.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InvalidArgument
            For a file that is there, or a folder that is not: before anything is computed.
        OutputError
            If the file cannot be written; there is then no half file.

        Examples
        --------
        >>> import tempfile
        >>> from modicum import plan
        >>> path = plan.count(epsilon=1).report(f"{tempfile.mkdtemp()}/plan.html")
        >>> "What is assumed" in path.read_text("utf-8")
        True
        """
        target = checked_target(path, overwrite=overwrite, form=".html")
        from modicum.plan.page import page_of

        write_whole({target: page_of(self, title)})
        return target

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return card(self.heading, facts(said(self)))
