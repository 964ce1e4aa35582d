"""Reading ahead keeps the order, the failures and the end of what it reads."""

import threading
from collections.abc import Generator

import pytest

from modicum.frames.ahead import read_ahead


class Numbers:
    """Counts from 0, and notes what was asked of it."""

    def __init__(self, count: int, *, failing: bool = False) -> None:
        self.count = count
        self.failing = failing
        self.made = 0
        self.closed = False
        self.threads: set[int] = set()

    def __iter__(self) -> Generator[int, None, None]:
        try:
            for number in range(self.count):
                self.threads.add(threading.get_ident())
                self.made += 1
                yield number
            if self.failing:
                raise OSError("the disk is gone")
        finally:
            self.closed = True


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_all_items_come_in_order_from_one_other_thread(count: int) -> None:
    numbers = Numbers(count)
    assert list(read_ahead(iter(numbers))) == list(range(count))
    assert numbers.closed
    assert len(numbers.threads) == min(count, 1)
    assert threading.get_ident() not in numbers.threads


def test_one_item_is_held_at_most() -> None:
    numbers = Numbers(10)
    for item in read_ahead(iter(numbers)):
        assert numbers.made <= item + 2


def test_a_failure_comes_after_the_items_before_it() -> None:
    numbers = Numbers(3, failing=True)
    with pytest.raises(OSError, match="the disk is gone"):
        list(read_ahead(iter(numbers)))
    items = read_ahead(iter(Numbers(3, failing=True)))
    assert [next(items), next(items), next(items)] == [0, 1, 2]
    with pytest.raises(OSError, match="the disk is gone"):
        next(items)
    assert numbers.closed


def test_an_early_end_closes_the_generator_and_its_thread() -> None:
    before = threading.active_count()
    numbers = Numbers(10)
    items = read_ahead(iter(numbers))
    assert next(items) == 0
    items.close()  # type: ignore[attr-defined]
    assert numbers.closed
    assert threading.active_count() == before
