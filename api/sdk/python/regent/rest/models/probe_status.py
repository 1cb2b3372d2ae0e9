from enum import StrEnum


class ProbeStatus(StrEnum):
    OK = "ok"
    READY = "ready"
    STOPPING = "stopping"
    UNAVAILABLE = "unavailable"

    def __str__(self) -> str:
        return str(self.value)
