"""Slugs for the things of a file that has none."""

from __future__ import annotations

from typing import Any

from django.utils.text import slugify


class SlugAllocator:
    """Slugs that are given out once; as quick for the ten thousandth of a name as for the first."""

    def __init__(self, otherwise: str, reserved: frozenset[str] = frozenset()) -> None:
        self._otherwise = otherwise
        self._taken = set(reserved)
        self._numbers: dict[str, int] = {}

    def reserve(self, own: Any, name: str) -> str:
        """The slug that a file of ours says, where it is free, or else one made from the name."""
        if isinstance(own, str) and own and own not in self._taken:
            self._taken.add(own)
            return own
        return self.free(name)

    def free(self, name: str) -> str:
        """A slug made from a name."""
        base = slugify(name)[:110].strip("-") or self._otherwise
        slug, number = base, self._numbers.get(base, 2)
        while slug in self._taken:
            slug, number = f"{base}-{number}", number + 1
        self._numbers[base] = number
        self._taken.add(slug)
        return slug
