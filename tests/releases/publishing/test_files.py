"""No half file: on a full disk, in a process that is killed, or where a file is already."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import modicum as mo
from modicum.releases.publishing import files

TABLE = mo.count([1.0] * 999, epsilon=1).publish()
OTHER = mo.count([1.0] * 5, epsilon=1).publish()


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_what_is_there_is_kept(tmp_path: Path) -> None:
    target, beside = TABLE.to_csv(tmp_path / "a.csv")
    before = target.read_bytes(), beside.read_bytes()
    with pytest.raises(mo.InvalidArgument, match="is there already: overwrite=True"):
        OTHER.to_csv(target)
    target.unlink()
    with pytest.raises(mo.InvalidArgument, match=r"metadata\.json is there already"):
        OTHER.to_csv(target)
    OTHER.to_csv(target, overwrite=True)
    assert (target.read_bytes(), beside.read_bytes()) != before
    assert names(tmp_path) == ["a.csv", "a.csv-metadata.json"]


@pytest.mark.parametrize(
    ("path", "words"), [("", "is a folder"), ("none/a.csv", "there is no folder")]
)
def test_paths_that_cannot_be(tmp_path: Path, path: str, words: str) -> None:
    with pytest.raises(mo.InvalidArgument, match=words):
        TABLE.to_csv(tmp_path / path, overwrite=True)


class Full:
    """A disk that is full after so many writes, syncs or renames."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, function):
        def wrapped(*arguments, **named):
            self.left -= 1
            if self.left < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return function(*arguments, **named)

        return wrapped


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch, after: int) -> None:
    """It fails to open, or to sync, the first or the second file."""
    target, beside = TABLE.to_csv(tmp_path / "a.csv")
    before = target.read_bytes(), beside.read_bytes()
    full = Full(after)
    monkeypatch.setattr(files.os, "fsync", full(os.fsync))
    monkeypatch.setattr(files.Path, "open", full(Path.open))
    with pytest.raises(mo.OutputError, match=r"cannot write .*No space left"):
        OTHER.to_csv(target, overwrite=True)
    monkeypatch.undo()
    assert (target.read_bytes(), beside.read_bytes()) == before
    assert names(tmp_path) == ["a.csv", "a.csv-metadata.json"]
    assert issubclass(mo.OutputError, OSError)


def test_a_rename_that_fails_leaves_no_parts(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(files.Path, "replace", Full(1)(Path.replace))
    with pytest.raises(mo.OutputError):
        TABLE.to_csv(tmp_path / "a.csv")
    assert names(tmp_path) == ["a.csv-metadata.json"]  # and never a table without its terms


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("place", ["fsync", "replace"])
def test_a_killed_process_leaves_no_half_file(tmp_path: Path, place: str) -> None:
    script = textwrap.dedent(
        f"""
        import os, signal
        import modicum as mo
        from modicum.releases.publishing import files

        def die(*arguments, **named):
            os.kill(os.getpid(), signal.SIGKILL)

        home = files.os if {place!r} == "fsync" else files.Path
        setattr(home, {place!r}, die)
        mo.count([1.0] * 5, epsilon=1).publish().to_csv({str(tmp_path / "a.csv")!r}, overwrite=True)
        """
    )
    target, beside = TABLE.to_csv(tmp_path / "a.csv")
    before = target.read_bytes(), beside.read_bytes()
    found = subprocess.run([sys.executable, "-c", script], check=False)
    assert found.returncode == -signal.SIGKILL
    assert (target.read_bytes(), beside.read_bytes()) == before
    assert all(each.startswith(("a.csv", ".a.csv")) for each in names(tmp_path))


def test_half_of_a_surrogate_pair_is_written(tmp_path: Path) -> None:
    files.write_whole({tmp_path / "a": "x\ud800y"})
    assert (tmp_path / "a").read_text(encoding="utf-8") == "x?y"


def test_what_is_replaced_is_kept_while_it_is_read(tmp_path: Path) -> None:
    target, _ = TABLE.to_csv(tmp_path / "a.csv")
    with target.open(encoding="utf-8") as reader:
        OTHER.to_csv(target, overwrite=True)
        assert reader.read() != target.read_text(encoding="utf-8")
