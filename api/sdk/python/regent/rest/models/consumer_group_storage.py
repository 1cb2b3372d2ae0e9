from enum import StrEnum


class ConsumerGroupStorage(StrEnum):
    SEGMENTS = "segments"

    def __str__(self) -> str:
        return str(self.value)
