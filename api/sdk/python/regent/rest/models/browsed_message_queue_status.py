from enum import StrEnum


class BrowsedMessageQueueStatus(StrEnum):
    COMPLETED = "completed"
    PENDING = "pending"
    PROCESSING = "processing"

    def __str__(self) -> str:
        return str(self.value)
