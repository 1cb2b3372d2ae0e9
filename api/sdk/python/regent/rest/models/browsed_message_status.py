from enum import StrEnum


class BrowsedMessageStatus(StrEnum):
    COMPLETED = "completed"
    DEAD_LETTER = "dead_letter"
    PENDING = "pending"
    PROCESSING = "processing"

    def __str__(self) -> str:
        return str(self.value)
