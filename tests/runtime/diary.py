"""Entropy that writes into a diary."""

from modicum.exact.entropy import SeededEntropy


class NotedEntropy(SeededEntropy):
    """Seeded entropy that notes in a diary when it is first used."""

    def __init__(self, seed: str, diary: list[object]) -> None:
        super().__init__(seed)
        self._diary = diary

    def word(self) -> int:
        if "draw" not in self._diary:
            self._diary.append("draw")
        return super().word()
