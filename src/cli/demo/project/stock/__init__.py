"""A small warehouse."""

from stock.inventory import Inventory, Item

__all__ = ["Inventory", "Item"]
