"""A PostgreSQL server of the tests' own, and a network to it that can be cut."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[3]
MISSING = (
    "no PostgreSQL: apt-get install postgresql, and pip install 'psycopg[binary]' "
    "(make test-server does the latter)"
)


def programs() -> Path | None:
    """Folder with initdb and pg_ctl, if there is one."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    for folder in [*debian, *([Path(found).parent] if found else [])]:
        if (folder / "pg_ctl").exists() and (folder / "initdb").exists():
            return folder
    return None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server on a port of its own; superuser ``owner``, everybody trusted."""

    def __init__(self) -> None:
        folder = programs()
        assert folder is not None
        self._programs = folder
        self._user = _unprivileged()
        self._home = tempfile.mkdtemp(prefix="modicum-pg-", dir="/tmp")
        if self._user is not None:
            shutil.chown(self._home, self._user)
        self.port = free_port()
        self._run("initdb", "-D", f"{self._home}/data", "-A", "trust", "-U", "owner", "-E", "UTF8")
        self.start()

    def start(self) -> None:
        options = f"-p {self.port} -k {self._home} -c listen_addresses=127.0.0.1"
        log = f"{self._home}/log"
        self._run("pg_ctl", "-D", f"{self._home}/data", "-o", options, "-l", log, "-w", "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop it; ``immediate`` is a crash: it comes back by reading its log."""
        self._run("pg_ctl", "-D", f"{self._home}/data", "-m", mode, "-w", "stop")

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._home, ignore_errors=True)

    def url(self, database: str, user: str = "owner", port: int | None = None) -> str:
        return f"postgresql://{user}:sesame@127.0.0.1:{port or self.port}/{database}"

    def database(self, name: str) -> str:
        """Make a data base and return the URL of its owner."""
        self.sql("postgres", f'CREATE DATABASE "{name}" TEMPLATE template0')
        return self.url(name)

    def sql(self, database: str, *statements: str) -> None:
        where = f"host=127.0.0.1 port={self.port} user=owner dbname={database}"
        with import_module("psycopg").connect(where, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self._programs / program), *arguments],
            check=True,
            user=self._user,
            cwd=self._home,
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )


def _unprivileged() -> str | None:
    """Another user if this is root, as whom a server does not run."""
    if os.getuid() != 0:
        return None
    names = {each.pw_name for each in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


class Proxy:
    """A process that forwards to a port, and cuts each connection after some bytes."""

    def __init__(self, port: int, most: int, seed: int) -> None:
        self.port = free_port()
        command = [sys.executable, "-m", "tests.privacy.ledger.proxy"]
        command += [str(self.port), str(port), str(most), str(seed)]
        self._process = subprocess.Popen(command, cwd=ROOT)
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("the proxy does not listen")

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
