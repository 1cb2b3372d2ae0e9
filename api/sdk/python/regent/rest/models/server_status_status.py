from enum import StrEnum


class ServerStatusStatus(StrEnum):
    OK = "ok"

    def __str__(self) -> str:
        return str(self.value)
