"""Secret words are never repeated: not in a child, not in a thread, not in a copy."""

import copy
import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from modicum.errors import CopyRefused, ModicumError
from modicum.exact.entropy import SYSTEM, SystemEntropy

pytestmark = pytest.mark.secret_draws

COUNT = 200  # fewer than a block, so that a leftover buffer would be replayed


def draw(count: int = COUNT) -> list[int]:
    return [SYSTEM.word() for _ in range(count)]


def send(pipe) -> None:
    pipe.send(draw())
    pipe.close()


def in_thread(work: Callable[[], list[int]]) -> list[int]:
    result: list[int] = []
    thread = threading.Thread(target=lambda: result.extend(work()))
    thread.start()
    thread.join()
    return result


def forked() -> list[int]:
    """Words drawn by a child of ``os.fork``."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, b"".join(word.to_bytes(8, "big") for word in draw()))
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    return [int.from_bytes(data[i : i + 8], "big") for i in range(0, len(data), 8)]


def assert_all_distinct(*streams: list[int]) -> None:
    words = [word for stream in streams for word in stream]
    assert all(len(stream) == COUNT for stream in streams)
    assert len(set(words)) == len(words)


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_replay_its_parent() -> None:
    SYSTEM.word()  # the buffer is full at the fork
    first, second, parent = forked(), forked(), draw()
    assert_all_distinct(first, second, parent)


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_by_a_thread_does_not_replay_it() -> None:
    def work() -> list[int]:
        SYSTEM.word()
        return forked() + draw()

    words = in_thread(work)
    assert_all_distinct(words[:COUNT], words[COUNT:], draw())


def test_threads_share_no_words() -> None:
    gate = threading.Barrier(8)

    def work(_: int) -> list[int]:
        gate.wait()
        return draw()

    with ThreadPoolExecutor(8) as pool:
        assert_all_distinct(*pool.map(work, range(8)))


@pytest.mark.parametrize(
    "method",
    [  # a server of forks starts as a spawned process does
        pytest.param(each, marks=pytest.mark.slow) if each == "forkserver" else each
        for each in multiprocessing.get_all_start_methods()
    ],
)
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes_share_no_words(method) -> None:
    SYSTEM.word()
    context = multiprocessing.get_context(method)
    streams = []
    for _ in range(2):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=send, args=(sender,))
        process.start()
        streams.append(receiver.recv())
        process.join()
    assert_all_distinct(*streams, draw())


def test_bulk_words_leave_the_buffer_alone() -> None:
    single = draw()
    bulk = SYSTEM.words(COUNT).tolist()
    assert_all_distinct(single, bulk, draw(), SYSTEM.words(COUNT).tolist())


@pytest.mark.parametrize(
    "attack", [copy.copy, copy.deepcopy, *(lambda x, p=p: pickle.dumps(x, p) for p in range(6))]
)
@pytest.mark.parametrize("entropy", [SYSTEM, SystemEntropy()])
def test_secret_entropy_refuses_to_be_copied(attack, entropy) -> None:
    with pytest.raises(CopyRefused, match="cannot be copied or pickled") as caught:
        attack(entropy)
    assert isinstance(caught.value, ModicumError)
    assert isinstance(caught.value, TypeError)


def test_it_holds_no_state_and_shows_none() -> None:
    assert not hasattr(SYSTEM, "__dict__")
    assert not any(str(word) in repr(SYSTEM) for word in draw())
    with pytest.raises(AttributeError):
        SYSTEM.buffer = 1  # type: ignore[attr-defined]
