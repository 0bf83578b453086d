"""Stock levels of a small warehouse."""

from dataclasses import dataclass


@dataclass
class Item:
    """One article on the shelf."""

    sku: str
    quantity: int
    reorder_at: int = 10

    def needs_reorder(self) -> bool:
        return self.quantity < self.reorder_at


class Inventory:
    """All articles by their SKU."""

    def __init__(self) -> None:
        self._items: dict[str, Item] = {}

    def receive(self, sku: str, quantity: int) -> Item:
        item = self._items.setdefault(sku, Item(sku, 0))
        item.quantity += quantity
        return item

    def ship(self, sku: str, quantity: int) -> Item:
        item = self._items[sku]
        item.quantity -= quantity
        return item

    def to_reorder(self) -> list[str]:
        return sorted(sku for sku, item in self._items.items() if item.needs_reorder())
