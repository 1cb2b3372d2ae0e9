from enum import StrEnum


class ReplayedAsStatus(StrEnum):
    DUPLICATE = "duplicate"
    QUEUED = "queued"

    def __str__(self) -> str:
        return str(self.value)
