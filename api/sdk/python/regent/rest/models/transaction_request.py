from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.transaction_operation import TransactionOperation


T = TypeVar("T", bound="TransactionRequest")


@_attrs_define
class TransactionRequest:
    """
    Attributes:
        operations (list[TransactionOperation]): Pushes and acknowledgments, of any queues, partitions and groups.
        required_leases (list[str] | None | Unset): Leases that the acknowledgments were delivered under.
    """

    operations: list[TransactionOperation]
    required_leases: list[str] | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        operations = []
        for operations_item_data in self.operations:
            operations_item = operations_item_data.to_dict()
            operations.append(operations_item)

        required_leases: list[str] | None | Unset
        if isinstance(self.required_leases, Unset):
            required_leases = UNSET
        elif isinstance(self.required_leases, list):
            required_leases = self.required_leases

        else:
            required_leases = self.required_leases

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "operations": operations,
            }
        )
        if required_leases is not UNSET:
            field_dict["requiredLeases"] = required_leases

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.transaction_operation import TransactionOperation  # noqa: PLC0415

        d = dict(src_dict)
        operations = []
        _operations = d.pop("operations")
        for operations_item_data in _operations:
            operations_item = TransactionOperation.from_dict(operations_item_data)

            operations.append(operations_item)

        def _parse_required_leases(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                required_leases_type_0 = cast(list[str], data)

                return required_leases_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        required_leases = _parse_required_leases(d.pop("requiredLeases", UNSET))

        transaction_request = cls(
            operations=operations,
            required_leases=required_leases,
        )

        transaction_request.additional_properties = d
        return transaction_request

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
