from enum import StrEnum


class TransactionResponseReason(StrEnum):
    ACK_REJECTED = "ack_rejected"
    DB_ERROR = "db_error"
    DUPLICATE = "duplicate"
    PAYLOAD_TOO_LARGE = "payload_too_large"

    def __str__(self) -> str:
        return str(self.value)
