from enum import StrEnum


class MissingDeadLetterResult(StrEnum):
    GONE = "gone"

    def __str__(self) -> str:
        return str(self.value)
