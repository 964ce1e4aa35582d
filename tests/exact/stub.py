"""An entropy whose words are given."""

import numpy as np

from modicum.exact.entropy import Entropy


class Listed(Entropy):
    """The given words in order, then an error."""

    secret = False

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def word(self) -> int:
        return self.left.pop(0)

    def words(self, count: int) -> np.ndarray:
        return np.array([self.word() for _ in range(count)], np.uint64)
