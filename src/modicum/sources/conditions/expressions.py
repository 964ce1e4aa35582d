"""Conditions on rows, and columns made of others: a small language, evaluated row by row.

The text of an expression is parsed, never run as Python: it is made of columns, numbers, texts,
arithmetic, comparisons, ``and``, ``or``, ``not``, ``in`` and the functions of :data:`FUNCTIONS`.
What it is in a row depends on that row alone, and it has a value for whatever the row holds: no
value can make it fail ([view.1]). Columns are numbers as everywhere (float64, missing values NaN),
so a table of any engine gives the same rows.

Truth has three values, as in SQL: a comparison with a missing value is missing, ``missing and
False`` is false, ``missing or True`` is true. True is 1, false 0.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache, reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, did_you_mean
from modicum.sources import spans
from modicum.sources.labels import Encoded, LabelValues, label_items, spread
from modicum.summaries.base import Integers, Sensitive

_LONGEST = 10_000  # characters
_DEEPEST = 100
_MOST_KNOWN = 1 << 16  # labels
_MICROSECONDS_A_DAY = 86_400_000_000

Floats = NDArray[np.float64]
Values = Floats | np.float64
Columns = Mapping["Leaf | Constant", Values]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A column as an expression reads it.

    ``read`` is ``"number"``, ``"missing"`` (1 or 0), ``"time"`` (microseconds since 1970), or what
    labels are asked: ``"in"``, ``"starts_with"``, ``"ends_with"`` or ``"contains"``, of some texts.
    """

    name: str
    read: str = "number"
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that is compared with a column; it stands for what it is in the column's type."""

    column: str
    number: float


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression: what it reads of columns and compares with them, and its values."""

    text: str
    leaves: frozenset[Leaf]
    constants: frozenset[Constant]
    values: spans.Part
    true: spans.Part

    def evaluate(self, columns: Columns, rows: int) -> Floats:
        """Return a number for each row, NaN where it is missing."""
        found = np.asarray(self.values(columns), dtype=np.float64)
        return np.broadcast_to(found, (rows,))

    def holds(self, columns: Columns, rows: int) -> NDArray[np.bool_]:
        """Return where it is true: neither false nor missing."""
        return np.broadcast_to(self.true(columns), (rows,))

    def span(self, of: Callable[[Leaf], spans.Span], constants: Columns) -> spans.Span:
        """[view.5] Return between which numbers its values lie, by those of each leaf."""
        return self.values.span(self._spans(of, constants))

    def where_true(self, of: Callable[[Leaf], spans.Span], constants: Columns) -> spans.Spans:
        """[view.5] Return the same of each leaf in the rows for which it is true."""
        return self.values.narrowed(self._spans(of, constants))

    def _spans(self, of: Callable[[Leaf], spans.Span], constants: Columns) -> spans.Spans:
        compared = {
            each: spans.NumberPart(np.float64(constants[each])).span({}) for each in self.constants
        }
        return {**{leaf: of(leaf) for leaf in self.leaves}, **compared}


class _Tested(dict[Any, int]):
    """Whether labels pass a test, each tested when it is first looked up; -1 for a missing one."""

    __slots__ = ("_test",)

    def __init__(self, test: Callable[[str], bool]) -> None:
        super().__init__({None: -1})
        self._test = test

    def __missing__(self, label: object) -> int:
        found = int(self._test(str(label)))
        if type(label) is str:  # others may be equal and have different texts
            self[label] = found
        return found


class Matches(Sensitive):
    """A coder of labels: 1 where one has one of some texts, or begins, ends with or contains it."""

    __slots__ = ("_test", "_tested", "texts")
    missing: ClassVar[int] = -1

    def __init__(self, leaf: Leaf) -> None:
        self.texts = leaf.texts if leaf.read == "in" else None
        texts, known = leaf.texts, frozenset(leaf.texts)
        tests: dict[str, Callable[[str], bool]] = {
            "in": known.__contains__,
            "starts_with": lambda label: label.startswith(texts),
            "ends_with": lambda label: label.endswith(texts),
            "contains": lambda label: any(text in label for text in texts),
        }
        self._test = tests[leaf.read]
        self._tested = _Tested(self._test)

    def codes(self, values: LabelValues) -> Integers:
        if isinstance(values, Encoded):
            return spread(values, self)
        items = label_items(values)
        if len(self._tested) > _MOST_KNOWN:  # of labels that are all different none comes again
            self._tested = _Tested(self._test)
        return np.fromiter(map(self._tested.__getitem__, items), np.int64, len(items))


@lru_cache(maxsize=256)
def parse(text: str) -> Expression:
    """Read the text of an expression; InvalidArgument says what is not understood in it.

    Examples
    --------
    >>> old = parse("age >= 65 and not missing(income)")
    >>> sorted((leaf.name, leaf.read) for leaf in old.leaves)
    [('age', 'number'), ('income', 'missing')]
    >>> columns = {Leaf("x"): np.array([1.0, 2.0, np.nan])}
    >>> parse("1 / x").evaluate(columns, 3).tolist(), parse("x < 2").holds(columns, 3).tolist()
    ([1.0, 0.5, nan], [True, False, False])
    """
    if not isinstance(text, str):
        raise InvalidArgument(
            f'an expression must be text, such as "age >= 18", got {type(text).__name__}'
        )
    if len(text) > _LONGEST:
        raise InvalidArgument(f"an expression has at most {_LONGEST:,} characters")
    try:
        tree = _as_written(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidArgument(
            f"{text!r} is not an expression such as \"age >= 18 and region == 'North'\""
            f"{_meant(text)}"
        ) from None
    parser = _Parser(text)
    values, true = parser.number(tree), parser.true(tree)
    if not parser.leaves:
        raise InvalidArgument(f"{text!r} names no column")
    leaves, constants = frozenset(parser.leaves), frozenset(parser.constants)
    return Expression(text.strip(), leaves, constants, values, true)


def _as_written(text: str) -> ast.AST:
    """Parse text, each name in it as it is written.

    Python takes names that look alike for one: it writes the micro sign of keyboards, which some
    columns have in their names, as the Greek letter, which others have.
    """
    tree = ast.parse(text, mode="eval").body
    lines = [line.encode() for line in re.split("\r\n|[\r\n]", text)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()
    return tree


class _Parser:
    """Turns nodes of a syntax tree into functions of the columns of a chunk."""

    def __init__(self, text: str) -> None:
        self._text, self._depth = text, 0
        self.leaves: dict[Leaf, None] = {}
        self.constants: dict[Constant, None] = {}

    def number(self, node: ast.AST) -> spans.Part:
        """Read a node that has a number, or a truth, for each row."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise InvalidArgument(f"an expression is nested at most {_DEEPEST} times")
        found = self._number(node)
        self._depth -= 1
        return found

    def _number(self, node: ast.AST) -> spans.Part:
        match node:
            case ast.Name() | ast.Call():
                return self._leaf(Leaf(node.id)) if isinstance(node, ast.Name) else self._call(node)
            case ast.BoolOp(op=op, values=values):
                return _applied(_LOGIC[type(op)], *map(self._truth, values))
            case ast.Compare():
                return self._compared(node)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return _applied(_ARITHMETIC[type(op)], self.number(left), self.number(right))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _SIGNS:
                read = self._truth if isinstance(op, ast.Not) else self.number
                return _applied(_SIGNS[type(op)], read(operand))
        return self._constant(node)

    def true(self, node: ast.AST) -> spans.Part:
        """Read where a node is true, neither false nor missing: in most cases without its values.

        "And" and "or" are true where all or any of their parts are, and a comparison with NaN is
        false for NumPy, but for "unequal".
        """
        match node:
            case ast.BoolOp(op=op, values=parts):
                both = np.logical_and if isinstance(op, ast.And) else np.logical_or
                return _applied(lambda *found: reduce(both, found), *map(self.true, parts))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if (
                type(op) in _FALSE_OF_NAN and not _is_text(left) and not _is_text(right)
            ):
                return _applied(_FALSE_OF_NAN[type(op)], *self._sides(left, right))
        return _applied(_is_true, self.number(node))

    def _truth(self, node: ast.AST) -> spans.Part:
        """Read a node of which only the truth counts: 1, 0, or NaN where it is missing."""
        found = self.number(node)
        return found if _is_truth(node) else _applied(_truth, found)

    def _constant(self, node: ast.AST) -> spans.Part:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, int | float):
            raise self._refusal(node, _why_not(node))
        try:
            constant = np.float64(node.value)
        except OverflowError:
            raise self._refusal(node, "it is too large for a number") from None
        return spans.NumberPart(constant)

    def _compared(self, node: ast.Compare) -> spans.Part:
        sides = [node.left, *node.comparators]
        pairs = zip(sides, node.ops, sides[1:], strict=False)
        return _applied(_and, *(self._pair(node, *pair) for pair in pairs))

    def _pair(self, node: ast.AST, left: ast.AST, op: ast.cmpop, right: ast.AST) -> spans.Part:
        if isinstance(op, ast.In | ast.NotIn):
            found = self._among(node, left, right)
            return _applied(_not, found) if isinstance(op, ast.NotIn) else found
        if type(op) not in _COMPARISONS:
            raise self._refusal(node, f"write == or {_MISSING} in place of `is`")
        if _is_text(left):
            left, right, op = right, left, _TURNED.get(type(op), type(op))()
        if not _is_text(right):
            return _applied(_COMPARISONS[type(op)], *self._sides(left, right))
        if isinstance(op, ast.Eq | ast.NotEq):
            found = self._leaf(Leaf(self._column(left), "in", (right.value,)))  # type: ignore[attr-defined]
            return _applied(_not, found) if isinstance(op, ast.NotEq) else found
        moment = np.float64(self._moment(right))
        times = self._leaf(Leaf(self._column(left), "time"))
        return _applied(_COMPARISONS[type(op)], times, spans.NumberPart(moment))

    def _among(self, node: ast.AST, left: ast.AST, right: ast.AST) -> spans.Part:
        if not isinstance(right, ast.List | ast.Tuple | ast.Set) or not right.elts:
            raise self._refusal(
                node, "after `in` comes a list such as ['North', 'South'] or [1, 2]"
            )
        if all(map(_is_text, right.elts)):
            texts = tuple(each.value for each in right.elts)  # type: ignore[attr-defined]
            return self._leaf(Leaf(self._column(left), "in", texts))
        return _applied(_or, *(_applied(_equal, *self._sides(left, each)) for each in right.elts))

    def _sides(self, left: ast.AST, right: ast.AST) -> tuple[spans.Part, spans.Part]:
        """Read two numbers that are compared."""
        return self._side(left, right), self._side(right, left)

    def _side(self, node: ast.AST, other: ast.AST) -> spans.Part:
        found = self.number(node)
        signed = node.operand if isinstance(node, ast.UnaryOp) else node
        if not isinstance(signed, ast.Constant) or not _is_column(other):
            return found
        number = np.float64(found({}))
        constant = Constant(self._column(other), float(number))
        self.constants[constant] = None
        return spans.NumberPart(number, constant)

    def _call(self, node: ast.Call) -> spans.Part:
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            raise self._refusal(node, "arguments of functions have no names and no stars")
        if name == "col":
            return self._leaf(Leaf(self._column(node)))
        if name == "missing" and len(node.args) == 1:
            if _is_column(node.args[0]):
                return self._leaf(Leaf(self._column(node.args[0]), "missing"))
            return _applied(_is_missing, self.number(node.args[0]))
        if name in _OF_TEXT and len(node.args) > 1 and all(map(_is_text, node.args[1:])):
            texts = tuple(each.value for each in node.args[1:])  # type: ignore[attr-defined]
            return self._leaf(Leaf(self._column(node.args[0]), name, texts))
        if name in _OF_TIME and len(node.args) == 1:
            return _applied(_OF_TIME[name], self._leaf(Leaf(self._column(node.args[0]), "time")))
        if name in _OF_NUMBERS:
            function, least, most = _OF_NUMBERS[name]
            if least <= len(node.args) <= most:
                return _applied(function, *map(self.number, node.args))
        if name not in FUNCTIONS:
            known = ", ".join(sorted(FUNCTIONS))
            raise self._refusal(
                node,
                f"there is no function {name!r}{did_you_mean(name, FUNCTIONS)}; there are {known}",
            )
        raise self._refusal(node, f"write {FUNCTIONS[name]}")

    def _leaf(self, leaf: Leaf) -> spans.Part:
        self.leaves[leaf] = None
        return spans.LeafPart(leaf)

    def _column(self, node: ast.AST) -> str:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Call(func=ast.Name(id="col"), args=[ast.Constant(value=str() as name)]):
                return name
        raise self._refusal(node, "here comes a column: its name, or col('its name')")

    def _moment(self, node: Any) -> int:
        """Microseconds since 1970; a moment without a zone is in UTC."""
        if re.search(r"\.\d{6}0*[1-9]", node.value):
            raise self._refusal(node, "moments are told apart to the microsecond")
        try:
            moment = datetime.fromisoformat(node.value)
            moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            why = "texts are compared by == and in, dates by < too: '2026-01-31'"
            if _LIKE_A_DATE.fullmatch(node.value):
                why = "it is no date; write year, month and day as in '2026-01-31'"
            raise self._refusal(node, why) from None
        return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)

    def _refusal(self, node: ast.AST, why: str) -> InvalidArgument:
        part = ast.unparse(node)
        return InvalidArgument(f"{part!r} in {self._text!r} is not understood: {why}")


_MISSING = "missing(column) or not missing(column)"
_LIKE_A_DATE = re.compile(r"\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*", re.DOTALL)
_WORD = r"(?!(?:and|or|not|in|is|if|else|null|like|between)\b)[^\W\d]\w*"
_HINTS = {
    re.compile(pattern): hint
    for pattern, hint in {
        r"(?<![=!<>])=(?!=)": "equal is ==",
        r"<>": "not equal is !=",
        r"!(?!=)": "! is written not",
        r"&&|\|\|": "write and, or in place of &&, ||",
        r"\b(AND|OR|NOT|IN)\b": "and, or, not and in are written in small letters",
        r"(?i)\bis\s+(not\s+)?null\b": f"write {_MISSING} in place of IS NULL",
        r"(?i)\blike\b": (
            "write contains(column, 'text'), starts_with or ends_with in place of LIKE"
        ),
        r"(?i)\bbetween\b": "write 18 <= age <= 65 in place of BETWEEN",
        r"`": "a column is written without `: its name, or col('its name')",
    }.items()
}


def _meant(text: str) -> str:
    """What seems to be meant by the text of no expression, outside of its quotes."""
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "''", text)
    hints = [hint for pattern, hint in _HINTS.items() if pattern.search(bare)]
    several = re.search(rf"(?i)\b{_WORD}(?: +{_WORD})+", bare)
    if several is not None:
        hints.append(f"a column of several words is written col({several[0]!r})")
    hints = hints or ["a column whose name is not a plain word is written col('its name')"]
    return "".join(f"; {hint}" for hint in hints)


def _why_not(node: ast.AST) -> str:
    match node:
        case ast.Constant(value=None):
            return f"write {_MISSING}"
        case ast.Constant(value=str()):
            return "a text is compared with a column, as in region == 'North'"
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr()) | ast.UnaryOp(op=ast.Invert()):
            return "write and, or, not in place of &, |, ~"
        case ast.Attribute():
            return f"if it is a column, write col({ast.unparse(node)!r})"
    return "it is no part of an expression"


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_column(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "col"
    )


def _is_truth(node: ast.AST) -> bool:
    match node:
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name == "missing" or name in _OF_TEXT
    return False


def _applied(function: Callable[..., Any], *parts: spans.Part) -> spans.Part:
    return spans.Applied(function, parts, _SPANS.get(function), _NARROWS.get(function))


def _truth(x: Values) -> Values:
    return np.where(np.isnan(x), np.nan, np.not_equal(x, 0))


def _is_true(x: Values) -> Any:
    return np.not_equal(x, 0) & ~np.isnan(x)


def _is_missing(x: Values) -> Values:
    return np.where(np.isnan(x), 1.0, 0.0)


def _not(x: Values) -> Values:
    return 1 - x


def _and(*parts: Values) -> Values:
    """False if one is, otherwise missing if one is."""
    return reduce(lambda a, b: np.where((a == 0) | (b == 0), 0.0, a * b), parts)


def _or(*parts: Values) -> Values:
    return _not(_and(*map(_not, parts)))


def _compare(operation: Callable[[Values, Values], Any]) -> Callable[[Values, Values], Values]:
    def compared(a: Values, b: Values) -> Values:
        return np.where(np.isnan(a) | np.isnan(b), np.nan, operation(a, b))

    return compared


def _divided(operation: Callable[[Values, Values], Any]) -> Callable[[Values, Values], Values]:
    """A division by zero is missing."""

    def divided(a: Values, b: Values) -> Values:
        zero = np.equal(b, 0)
        found: Values = operation(a, b)
        return np.where(zero, np.nan, found) if np.any(zero) else found

    return divided


def _power(a: Values, b: Values) -> Values:
    """0 to a negative power is missing, as a division by zero."""
    return np.where(np.equal(a, 0) & np.less(b, 0), np.nan, np.power(a, b))


def _logarithm(function: Callable[[Values], Any]) -> Callable[[Values], Values]:
    """A logarithm of what is not positive is missing."""
    return lambda x: function(np.where(np.greater(x, 0), x, np.nan))


def _chosen(condition: Values, yes: Values, no: Values) -> Values:
    """As SQL's CASE: what is not true is else."""
    return np.where(_is_true(condition), yes, no)


def _field(unit: str, within: str, first: int) -> Callable[[Floats], Floats]:
    """A part of a date: how many units it is from the begin of a longer one, from ``first`` on."""

    def found(times: Floats) -> Floats:
        there = ~np.isnan(times)
        days = np.floor(np.where(there, times, 0.0) / _MICROSECONDS_A_DAY).astype(np.int64)
        dates = np.clip(days, -(10**8), 10**8).view("M8[D]")
        start = dates.astype(f"M8[{within}]") if within else np.array(0, "M8[Y]")
        parts = (dates.astype(f"M8[{unit}]") - start.astype(f"M8[{unit}]")).astype(np.int64)
        return np.where(there, parts + first, np.nan)

    return found


def _rounded(x: Values, digits: Values = np.float64(0)) -> Values:  # noqa: B008 -- immutable
    scale = np.power(10.0, np.clip(np.trunc(digits), -300, 300))
    return np.asarray(np.round(x * scale) / scale)


_ARITHMETIC: Mapping[type, Callable[[Values, Values], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: _divided(np.divide),
    ast.FloorDiv: _divided(np.floor_divide),
    ast.Mod: _divided(np.mod),
    ast.Pow: _power,
}
_FALSE_OF_NAN: dict[type, Callable[[Values, Values], Any]] = {
    ast.Eq: np.equal,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
}
_COMPARISONS: Mapping[type, Callable[[Values, Values], Values]] = {
    kind: _compare(each) for kind, each in (_FALSE_OF_NAN | {ast.NotEq: np.not_equal}).items()
}
_equal = _COMPARISONS[ast.Eq]
_TURNED: Mapping[type, type] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_LOGIC: Mapping[type, Callable[..., Values]] = {ast.And: _and, ast.Or: _or}
_SIGNS: Mapping[type, Callable[[Values], Any]] = {
    ast.Not: _not,
    ast.USub: np.negative,
    ast.UAdd: np.positive,
}
_ANY_NUMBER = 100
_OF_NUMBERS: Mapping[str, tuple[Callable[..., Any], int, int]] = {
    "abs": (np.abs, 1, 1),
    "ceil": (np.ceil, 1, 1),
    "clip": (lambda x, low, high: np.minimum(np.maximum(x, low), high), 3, 3),
    "exp": (np.exp, 1, 1),
    "fill": (lambda x, value: np.where(np.isnan(x), value, x), 2, 2),
    "floor": (np.floor, 1, 1),
    "log": (_logarithm(np.log), 1, 1),
    "log10": (_logarithm(np.log10), 1, 1),
    "log2": (_logarithm(np.log2), 1, 1),
    "max": (lambda *parts: reduce(np.maximum, parts), 2, _ANY_NUMBER),
    "min": (lambda *parts: reduce(np.minimum, parts), 2, _ANY_NUMBER),
    "round": (_rounded, 1, 2),
    "sqrt": (np.sqrt, 1, 1),
    "where": (_chosen, 3, 3),
}
_OF_TEXT = frozenset({"starts_with", "ends_with", "contains"})
_OF_TIME: Mapping[str, Callable[[Floats], Floats]] = {
    "year": _field("Y", "", 1970),
    "month": _field("M", "Y", 1),
    "day": _field("D", "M", 1),
    "weekday": lambda times: (np.floor(times / _MICROSECONDS_A_DAY) + 3) % 7 + 1,
}
_SPANS: dict[Callable[..., Any], spans.Rule] = {
    np.add: spans.sum_of(np.add),
    np.subtract: spans.sum_of(np.subtract),
    np.multiply: spans.at_ends(np.multiply),
    _ARITHMETIC[ast.Div]: spans.quotient(np.divide, down=False),
    _ARITHMETIC[ast.FloorDiv]: spans.quotient(np.floor_divide, down=True),
    _ARITHMETIC[ast.Mod]: spans.remainder,
    _power: spans.power,
    np.negative: spans.at_ends(np.negative),
    np.positive: spans.either,
    np.abs: spans.magnitude,
    np.ceil: spans.increasing(np.ceil, whole=True),
    np.floor: spans.increasing(np.floor, whole=True),
    np.exp: spans.exponential,
    np.sqrt: spans.root,
    _rounded: spans.rounded(_rounded),
    _chosen: lambda _, yes, no: yes.join(no),
    **{
        _OF_NUMBERS[name][0]: spans.increasing(_OF_NUMBERS[name][0])
        for name in ("clip", "max", "min")
    },
    **{
        _OF_NUMBERS[name][0]: spans.logarithm(function)
        for name, function in {"log": np.log, "log10": np.log10, "log2": np.log2}.items()
    },
    _OF_NUMBERS["fill"][0]: spans.either,
    **dict.fromkeys(
        [*_COMPARISONS.values(), _and, _or, _not, _truth, _is_missing], spans.always(spans.TRUTH)
    ),
    _OF_TIME["year"]: spans.of_moments(_OF_TIME["year"]),
    **{
        _OF_TIME[name]: spans.always(spans.Span(1.0, most, True))
        for name, most in {"month": 12.0, "day": 31.0, "weekday": 7.0}.items()
    },
}
_NARROWS: Mapping[Callable[..., Any], spans.Narrowing] = {
    _and: spans.all_true,
    _or: spans.one_true,
    _equal: spans.compared(least=True, most=True),
    **dict.fromkeys(
        (_COMPARISONS[ast.Lt], _COMPARISONS[ast.LtE]), spans.compared(least=False, most=True)
    ),
    **dict.fromkeys(
        (_COMPARISONS[ast.Gt], _COMPARISONS[ast.GtE]), spans.compared(least=True, most=False)
    ),
}
FUNCTIONS: Mapping[str, str] = {
    **{name: f"{name}(x)" for name in ("abs", "ceil", "exp", "floor", "log", "log10", "log2")},
    "sqrt": "sqrt(x)",
    "round": "round(x) or round(x, digits)",
    "clip": "clip(x, lowest, highest)",
    "min": "min(x, y, ...)",
    "max": "max(x, y, ...)",
    "where": "where(condition, yes, no)",
    "fill": "fill(x, value), for where x is missing",
    "missing": "missing(column)",
    **{name: f"{name}(column, 'text', ...)" for name in sorted(_OF_TEXT)},
    **{name: f"{name}(date)" for name in _OF_TIME},
    "col": "col('name of a column')",
}
"""What may be called, and how that is written."""
