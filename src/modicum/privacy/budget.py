"""Exact privacy budgets: pure ε, zero-concentrated ρ, and approximate (ε, δ)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NoReturn, get_args

from modicum.errors import InvalidArgument, as_given, no_attribute, says_how
from modicum.exact.rational import as_fraction
from modicum.stored.codec import storable

Kind = Literal["pure", "zcdp", "approx"]
Number = int | float | str | Fraction

PURE_KIND: Final = "pure"
ZCDP_KIND: Final = "zcdp"
APPROX_KIND: Final = "approx"

ANY_KIND: tuple[Kind, ...] = get_args(Kind)
EPSILON_KINDS: tuple[Kind, ...] = (PURE_KIND, APPROX_KIND)
PURE_ONLY: tuple[Kind, ...] = (PURE_KIND,)
ZCDP_ONLY: tuple[Kind, ...] = (ZCDP_KIND,)


@storable
@dataclass(frozen=True, slots=True)
class Budget:
    """An exact amount of privacy loss in one currency.

    Build one with :func:`pure`, :func:`zcdp` or :func:`approx`. Budgets of one kind add and
    subtract (basic composition) and compare coordinate by coordinate, so ``<=`` is only a partial
    order for (ε, δ).

    Attributes
    ----------
    kind : {"pure", "zcdp", "approx"}
        The currency.
    amount : Fraction
        ε for ``"pure"`` and ``"approx"``, ρ for ``"zcdp"``.
    delta : Fraction
        δ, zero unless the kind is ``"approx"``.

    Raises
    ------
    InvalidArgument
        For another kind, or an amount that is negative or not a ``Fraction`` or an integer.

    Examples
    --------
    >>> pure("0.1") + pure("0.2") == pure("0.3")
    True
    >>> str(approx(1, "1e-6"))
    '(ε, δ) = (1, 0.000001)'
    """

    kind: Kind
    amount: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.kind not in ANY_KIND:
            raise InvalidArgument(
                f"a budget's kind is pure, zcdp or approx, got {as_given(self.kind)}"
            )
        amounts: tuple[tuple[str, object], ...] = (("amount", self.amount), ("delta", self.delta))
        for name, given in amounts:
            # The sign of a fraction is that of its numerator.
            if (
                not isinstance(given, (int, Fraction))
                or isinstance(given, bool)
                or given.numerator < 0
            ):
                raise InvalidArgument(
                    f"a budget's {name} is an exact number of at least 0, got {as_given(given)}: "
                    "make budgets with modicum.pure, zcdp or approx"
                )
        if self.delta and not self.approximate:
            raise InvalidArgument(f"a budget of kind {self.kind!r} has no δ, got {self.delta}")

    @property
    def concentrated(self) -> bool:
        """Whether it is counted in ρ."""
        return self.kind == ZCDP_KIND

    @property
    def approximate(self) -> bool:
        """Whether it may have a δ."""
        return self.kind == APPROX_KIND

    @property
    def symbol(self) -> str:
        """``"ρ"`` in zCDP, else ``"ε"``."""
        return "ρ" if self.concentrated else "ε"

    def part(self, share: Fraction) -> Budget:
        """A share of it, of δ too.

        Parameters
        ----------
        share : Fraction
            At least 0. A float is refused: the shares of a budget add up exactly.

        Raises
        ------
        InvalidArgument
            If the share is negative or a float.

        Examples
        --------
        >>> zcdp(1).part(Fraction(1, 8))
        zcdp('0.125')
        """
        return Budget(self.kind, self.amount * share, self.delta * share)

    def __add__(self, other: Budget) -> Budget:
        self._same_kind(other)
        return Budget(self.kind, self.amount + other.amount, self.delta + other.delta)

    def __sub__(self, other: Budget) -> Budget:
        self._same_kind(other)
        return Budget(self.kind, self.amount - other.amount, self.delta - other.delta)

    def __le__(self, other: Budget) -> bool:
        self._same_kind(other)
        return self.amount <= other.amount and self.delta <= other.delta

    if not TYPE_CHECKING:  # or every attribute would seem to exist

        def __getattr__(self, name: str) -> NoReturn:
            own = {"epsilon": "amount, and delta", "rho": "amount"}
            raise no_attribute(self, name, own)

    def _same_kind(self, other: Budget) -> None:
        if not isinstance(other, Budget):
            raise InvalidArgument(
                f"a budget goes with budgets, such as modicum.pure(1), got {as_given(other)}"
            )
        if self.kind != other.kind:
            raise InvalidArgument(
                f"budgets of kind {self.kind!r} and {other.kind!r} cannot be combined; "
                "convert one of them first (modicum.privacy.accountant)"
            )

    def __str__(self) -> str:
        amount = short_text(self.amount)
        if self.approximate:
            return f"(ε, δ) = ({amount}, {short_text(self.delta)})"
        return f"{self.symbol} = {amount}"

    def __repr__(self) -> str:
        if self.approximate:
            return f"approx({decimal_text(self.amount)!r}, {decimal_text(self.delta)!r})"
        return f"{self.kind}({decimal_text(self.amount)!r})"


@lru_cache(maxsize=256)
def decimal_text(x: Fraction) -> str:
    """An exact rational as a decimal if it has a short one, else as ``p/q``.

    Examples
    --------
    >>> decimal_text(Fraction(1, 10)), decimal_text(Fraction(1, 3))
    ('0.1', '1/3')
    """
    denominator, twos, fives = x.denominator, 0, 0
    while denominator % 2 == 0:
        denominator, twos = denominator // 2, twos + 1
    while denominator % 5 == 0:
        denominator, fives = denominator // 5, fives + 1
    places = max(twos, fives)
    if denominator != 1 or places > 30:
        return str(x)
    digits = str(abs(x.numerator) * 10**places // x.denominator).rjust(places + 1, "0")
    whole, part = digits[: len(digits) - places], digits[len(digits) - places :]
    return ("-" if x < 0 else "") + whole + ("." + part if part else "")


def short_text(x: Fraction) -> str:
    """An amount for reading: exactly if that is short, else to ten digits.

    Examples
    --------
    >>> short_text(Fraction(1, 8)), short_text(Fraction(1, 2**64))
    ('0.125', '~5.421010862e-20')
    """
    exact = decimal_text(x)
    return exact if len(exact) <= 14 else f"~{float(x):.10g}"


_LARGEST = 10**12  # laws are computed up to there; a larger amount is a mistake


def _positive(x: Number, name: str) -> Fraction:
    value = as_fraction(x, name)
    if value.numerator <= 0:
        raise InvalidArgument(f"{name} must be positive, got {as_given(x)}")
    if value.numerator > _LARGEST * value.denominator:
        raise InvalidArgument(f"{name} must be at most 10^12, got one of {len(str(x))} characters")
    return value


def pure(epsilon: Number) -> Budget:
    """Pure ε-differential privacy.

    Parameters
    ----------
    epsilon : int, Fraction, decimal string or float
        Positive, at most 10^12. A float is read as its shortest decimal: ``0.1`` is one tenth.

    Returns
    -------
    Budget
        Costs in it add up exactly.

    Raises
    ------
    InvalidArgument
        If ``epsilon`` is not a finite positive number.

    Examples
    --------
    >>> pure("0.5")
    pure('0.5')
    """
    return Budget(PURE_KIND, _positive(epsilon, "epsilon"))


def zcdp(rho: Number) -> Budget:
    """ρ-zero-concentrated differential privacy (Bun and Steinke 2016).

    Parameters
    ----------
    rho : int, Fraction, decimal string or float
        Positive, at most 10^12. A float is read as its shortest decimal.

    Returns
    -------
    Budget
        Releases may draw Gaussian noise. The (ε, δ) guarantee of k equal ones grows like the square
        root of k, see :func:`zcdp_to_approx`.

    Raises
    ------
    InvalidArgument
        If ``rho`` is not a finite positive number.

    Examples
    --------
    >>> str(zcdp("0.125"))
    'ρ = 0.125'
    """
    return Budget(ZCDP_KIND, _positive(rho, "rho"))


@says_how("approx(1, '1e-6')")
def approx(epsilon: Number, delta: Number) -> Budget:
    """Approximate (ε, δ)-differential privacy.

    Parameters
    ----------
    epsilon : int, Fraction, decimal string or float
        Positive, at most 10^12. A float is read as its shortest decimal.
    delta : int, Fraction, decimal string or float
        In (0, 1): with this probability nothing is promised. Usual is well below one over the
        number of persons.

    Returns
    -------
    Budget
        ε and δ of releases add up, each by itself.

    Raises
    ------
    InvalidArgument
        If ``epsilon`` is not positive or ``delta`` is not in (0, 1).

    Examples
    --------
    >>> approx(1, "1e-6").delta
    Fraction(1, 1000000)
    """
    small = _positive(delta, "delta")
    if small >= 1:
        raise InvalidArgument(f"delta must be below 1, got {as_given(delta)}")
    return Budget(APPROX_KIND, _positive(epsilon, "epsilon"), small)


def chosen_budget(epsilon: Number | None, rho: Number | None, budget: Budget | None) -> Budget:
    """Read the one of ``epsilon=``, ``rho=`` and ``budget=`` that a caller gave.

    A budget must be one that can be spent: positive, of at most 10^12, and with a δ below 1.
    """
    if (epsilon is None) + (rho is None) + (budget is None) != 2:
        raise InvalidArgument(
            "give exactly one of epsilon= (pure), rho= (zCDP) and budget= "
            "(for example modicum.approx(1, '1e-6'))"
        )
    if epsilon is not None:
        return pure(epsilon)
    if rho is not None:
        return zcdp(rho)
    if not isinstance(budget, Budget):
        raise InvalidArgument(
            f"budget must come from modicum.pure, zcdp or approx, got {type(budget).__name__}"
        )
    _positive(budget.amount, "budget")
    if budget.delta >= 1:
        raise InvalidArgument(f"the δ of a budget must be below 1, got {budget}")
    return budget
