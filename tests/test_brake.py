"""The brake: how many lines of code and named constants each package may have, and how many files.

A change that raises a number edits the table, and says why in its changelog fragment. One that
makes a package smaller lowers its numbers: the test asks for it.
"""

import ast
import functools
import io
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import modicum

PACKAGE = Path(modicum.__file__).parent
TOP = "top level"

# Lines of code, those of generated stubs too, without blank lines, comments and docstrings; and
# constants of modules: names in capitals whose value is written with numbers.
LIMITS = {
    "top level": (453, 5),
    "api": (4_133, 26),
    "audit": (686, 7),
    "cli": (2_318, 3),
    "exact": (1_046, 41),
    "interop": (376, 1),
    "mechanisms": (3_187, 81),
    "plan": (2_295, 31),
    "privacy": (1_896, 20),
    "protocols": (2_406, 68),
    "query": (338, 0),
    "questions": (1_043, 2),
    "releases": (4_021, 44),
    "research": (2_418, 39),
    "runtime": (775, 2),
    "sources": (6_616, 66),
    "statistics": (13_330, 487),
    "stored": (434, 0),
    "summaries": (2_813, 63),
}

_LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


def lines_of_code(text: str) -> int:
    """How many lines hold a token that is neither layout nor a docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                lines.difference_update(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(lines)


def is_number(value: ast.expr) -> bool:
    """Whether a value is written with numbers: one, several, or what is made of some."""
    match value:
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=int() | float()):
            return True
        case ast.UnaryOp(operand=operand):
            return is_number(operand)
        case ast.BinOp(left=left, right=right):
            return is_number(left) or is_number(right)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Call(args=parts):
            return any(map(is_number, parts))
    return False


def constants(text: str) -> Iterator[str]:
    """The named constants of a module."""
    for statement in ast.parse(text).body:
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = [*zip(names, values, strict=True)]
            case ast.Assign(targets=[name], value=value):
                pairs = [(name, value)]
            case ast.AnnAssign(target=name, value=ast.expr() as value):
                pairs = [(name, value)]
            case _:
                continue
        for name, value in pairs:
            if isinstance(name, ast.Name) and name.id.lstrip("_").isupper() and is_number(value):
                yield name.id


@functools.cache
def counted() -> dict[str, tuple[int, int]]:
    """Lines of code and named constants of each package."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for path in (*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")):
        inside = path.relative_to(PACKAGE).parts
        numbers = found[inside[0] if len(inside) > 1 else TOP]
        text = path.read_text()
        numbers[0] += lines_of_code(text)
        numbers[1] += path.suffix == ".py" and sum(1 for _ in constants(text))
    return {package: (lines, names) for package, (lines, names) in found.items()}


def test_a_folder_has_few_files() -> None:
    files = Counter(path.parent for path in PACKAGE.rglob("*.py"))
    assert files[PACKAGE] <= 6
    assert {folder.name: number for folder, number in files.items() if number > 18} == {}


def test_the_table_names_each_package() -> None:
    assert {*counted()} == {*LIMITS}


@pytest.mark.parametrize("package", LIMITS)
def test_no_package_grows_without_a_word(package) -> None:
    for what, now, limit in zip(
        ("lines", "constants"), counted()[package], LIMITS[package], strict=True
    ):
        assert now <= limit, (
            f"{package} has {now} {what}: take some out, or say why in the fragment"
        )
        assert now >= 0.98 * limit - 10, f"{package} has {now} {what} now: lower its limit {limit}"


EXAMPLE = '''
"""Docstring."""

# note
_A, B = 1, "x"
C: int = -(2**3)
D = True

def f():
    """d"""
    return (
        1
    )
'''


def test_counting() -> None:
    assert lines_of_code(EXAMPLE) == 7
    assert [*constants(EXAMPLE)] == ["_A", "C"]
