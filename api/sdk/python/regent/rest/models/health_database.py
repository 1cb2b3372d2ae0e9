from enum import StrEnum


class HealthDatabase(StrEnum):
    CONNECTED = "connected"
    DISCONNECTED = "disconnected"

    def __str__(self) -> str:
        return str(self.value)
