from enum import StrEnum


class MessageModeType(StrEnum):
    BUS = "bus"
    HYBRID = "hybrid"
    NONE = "none"
    QUEUE = "queue"

    def __str__(self) -> str:
        return str(self.value)
