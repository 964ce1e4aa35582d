"""Ratios of CPU times, measured in turns so that a busy machine disturbs all alike."""

import time
from collections.abc import Callable, Mapping

__all__ = ["fastest"]


def fastest(tasks: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """CPU seconds of the fastest of several rounds; in each round every task runs once."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(repeats):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - start)
    return best
