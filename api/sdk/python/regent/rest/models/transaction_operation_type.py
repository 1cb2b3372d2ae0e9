from enum import StrEnum


class TransactionOperationType(StrEnum):
    ACK = "ack"
    PUSH = "push"

    def __str__(self) -> str:
        return str(self.value)
