from enum import StrEnum


class StatsSummaryEngine(StrEnum):
    SEGMENTS = "segments"

    def __str__(self) -> str:
        return str(self.value)
