"""Slugs that are made from names, also of rows that `loaddata` writes, and their constraint."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.db import models
from django.utils.text import slugify

#: What a slug or a token in a URL consists of.
IN_URL = r"\A[-a-zA-Z0-9_]+\Z"


class NameSlugField(models.SlugField):  # type: ignore[type-arg]
    """A slug that a row without one gets from its name when it is saved.

    Not in `save()`, which `loaddata` does not call. `within` is the foreign key of the rows among
    which it is unique; `prepare` changes the name before.
    """

    def __init__(
        self,
        *args: Any,
        within: str = "",
        fallback: str = "",
        reserved: frozenset[str] = frozenset(),
        prepare: Callable[[str], str] = str,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._within, self._fallback, self._reserved = within, fallback, reserved
        self._prepare = prepare

    def deconstruct(self) -> Any:
        """Deconstruct as a plain `SlugField`: a migration creates a text column."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.SlugField", args, kwargs

    def contribute_to_class(self, cls: Any, name: str, private_only: bool = False) -> None:
        """Make the slug before each row of the model is saved."""
        super().contribute_to_class(cls, name, private_only)
        models.signals.pre_save.connect(self._fill, sender=cls)

    def _fill(self, sender: Any, instance: Any, using: str, **_: Any) -> None:
        if not instance.slug:
            siblings = {self._within: getattr(instance, f"{self._within}_id")}
            others = sender._default_manager.using(using).filter(**siblings).exclude(pk=instance.pk)
            name = self._prepare(str(instance.name or ""))
            instance.slug = free_slug(name, self._fallback, others, self._reserved)


def free_slug(
    name: str, fallback: str, others: models.QuerySet[Any], reserved: frozenset[str] = frozenset()
) -> str:
    """Return a slug made from `name` that is not reserved and that none of `others` has."""
    longest = others.model._meta.get_field("slug").max_length - 20
    base = slugify(name)[:longest].strip("-") or fallback
    # One query, however many have the same name: an import needs thousands of slugs.
    taken = set(others.filter(slug__startswith=base).values_list("slug", flat=True)) | reserved
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug


def valid_columns(
    model: str, reserved: frozenset[str] = frozenset(), **choices: Iterable[str]
) -> list[models.CheckConstraint]:
    """Return constraints of a model: its slug is one of its URLs, other columns are choices.

    `loaddata` writes a fixture without any other validation.
    """
    slug = models.Q(slug__regex=IN_URL)
    if reserved:
        slug &= ~models.Q(slug__in=sorted(reserved))
    conditions = {"slug": slug} | {
        name: models.Q(**{f"{name}__in": [*known]}) for name, known in choices.items()
    }
    return [
        models.CheckConstraint(condition=condition, name=f"{model}_{name}_valid")
        for name, condition in conditions.items()
    ]
