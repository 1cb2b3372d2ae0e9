from enum import StrEnum


class ConfigureResponseStorage(StrEnum):
    SEGMENTS = "segments"

    def __str__(self) -> str:
        return str(self.value)
