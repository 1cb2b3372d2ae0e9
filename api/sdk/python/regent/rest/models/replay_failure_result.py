from enum import StrEnum


class ReplayFailureResult(StrEnum):
    FAILED = "failed"
    MAINTENANCE = "maintenance"

    def __str__(self) -> str:
        return str(self.value)
