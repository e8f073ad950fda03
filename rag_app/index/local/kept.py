"""Things that are costly to make again, kept up to a number of bytes; the ones not used for longest go first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """A bounded dictionary that many threads may use."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._items: OrderedDict[str, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> T | None:
        """What is kept under `key`; None when there is nothing (any more)."""
        with self._lock:
            item = self._items.get(key)
            if item is None:
                return None
            self._items.move_to_end(key)
            return item[0]

    def put(self, key: str, value: T, size: int) -> T:
        """Keep `value`, which takes `size` bytes; one that is larger than all the room is handed back only."""
        if size <= self._most:
            with self._lock:
                old = self._items.pop(key, None)
                self._items[key] = (value, size)
                self._bytes += size - (0 if old is None else old[1])
                while self._bytes > self._most:
                    self._bytes -= self._items.popitem(last=False)[1][1]
        return value
