"""Times measured in turns, so that a busy machine disturbs all alike."""

import time
from collections.abc import Callable, Mapping


def fastest(tasks: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """CPU seconds of the fastest of several rounds; in each round every task runs once."""
    return fastest_both(tasks, repeats)[0]


def fastest_both(
    tasks: Mapping[str, Callable[[], object]], repeats: int
) -> tuple[dict[str, float], dict[str, float]]:
    """CPU seconds and elapsed seconds, each of the fastest of several rounds."""
    cpu, elapsed = dict.fromkeys(tasks, float("inf")), dict.fromkeys(tasks, float("inf"))
    for _ in range(repeats):
        for name, task in tasks.items():
            start, start_cpu = time.perf_counter(), time.process_time()
            task()
            cpu[name] = min(cpu[name], time.process_time() - start_cpu)
            elapsed[name] = min(elapsed[name], time.perf_counter() - start)
    return cpu, elapsed
