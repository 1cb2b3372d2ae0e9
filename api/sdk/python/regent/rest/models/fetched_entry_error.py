from enum import StrEnum


class FetchedEntryError(StrEnum):
    OFFSET_OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"
    UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"

    def __str__(self) -> str:
        return str(self.value)
