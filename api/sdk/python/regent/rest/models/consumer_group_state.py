from enum import StrEnum


class ConsumerGroupState(StrEnum):
    DEAD = "Dead"
    LAGGING = "Lagging"
    STABLE = "Stable"

    def __str__(self) -> str:
        return str(self.value)
