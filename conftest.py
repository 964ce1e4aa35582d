"""What can be collected where an extra is missing, and where the draws of tests come from.

Draws repeat: "secret" words are those of a seed, the name of the test or of the fixture that asks
for them, so a test passes or fails by what the code is. ``--fresh-draws`` leaves them secret, as
they are in processes that a test starts and where a test is marked ``secret_draws``.
"""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from random import Random
from types import SimpleNamespace

import pytest

# One thread for each process: the processes share the cores already, and small products are many.
for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from modicum.exact import entropy  # noqa: E402 (NumPy looks at the environment once)

collect_ignore = [] if find_spec("sklearn") else ["src/modicum/interop/sklearn.py"]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage among many thousands of tests, which stay, and seldom in what is old."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(2000, 10, 100)
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fresh-draws", action="store_true", help="draw what the system gives")


@contextmanager
def draws_of(seed: str) -> Iterator[None]:
    """Take the words of :data:`modicum.exact.entropy.SYSTEM` from a seed."""
    held, entropy.os = entropy.os, SimpleNamespace(urandom=Random(seed).randbytes)
    entropy._buffer.drop()
    try:
        yield
    finally:
        entropy.os = held
        entropy._buffer.drop()


def secret(item: pytest.Item) -> bool:
    return item.config.getoption("fresh_draws") or item.get_closest_marker("secret_draws")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    if secret(item):
        return (yield)
    with draws_of(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest):
    """Draw for a fixture that several tests share whatever test asks for it first."""
    if fixturedef.scope == "function" or request.config.getoption("fresh_draws"):
        return (yield)
    place = f"{fixturedef.baseid}::{fixturedef.argname}"
    with draws_of(f"{place}[{getattr(request, 'param_index', 0)}]"):
        return (yield)
