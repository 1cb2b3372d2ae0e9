from enum import StrEnum


class ReplayResponseResult(StrEnum):
    DUPLICATE = "duplicate"
    MOVED = "moved"

    def __str__(self) -> str:
        return str(self.value)
