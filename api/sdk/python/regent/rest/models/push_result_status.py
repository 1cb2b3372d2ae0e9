from enum import StrEnum


class PushResultStatus(StrEnum):
    BUFFERED = "buffered"
    DUPLICATE = "duplicate"
    FAILED = "failed"
    QUEUED = "queued"

    def __str__(self) -> str:
        return str(self.value)
