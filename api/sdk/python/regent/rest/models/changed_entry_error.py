from enum import StrEnum


class ChangedEntryError(StrEnum):
    BAD_CURSOR = "BAD_CURSOR"
    UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"

    def __str__(self) -> str:
        return str(self.value)
