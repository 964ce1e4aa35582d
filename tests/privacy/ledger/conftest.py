"""Ledgers of both kinds."""

import itertools
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests.privacy.ledger.server import MISSING, Server, programs

_numbers = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    if programs() is None or not find_spec("psycopg"):
        pytest.skip(MISSING)
    running = Server()
    yield running
    running.remove()


@pytest.fixture
def database(server: Server) -> str:
    """URL of an empty data base on the server."""
    return server.database(f"ledger{next(_numbers)}")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path) -> str:
    """URL of a place for a ledger."""
    if request.param == "postgresql":
        return request.getfixturevalue("database")
    return f"sqlite:///{tmp_path}/budget.db"
