"""Putting back what was deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from playground.library.parsing import parse_trusted_fixture
from playground.library.planning import Owner, apply_import, plan_import
from playground.library.shape import Fixture
from playground.models import Collection
from playground.models.collections import RESERVED, free_slug


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """What was put back."""

    collection: Collection
    #: The slugs that its requests have now, by those that they had.
    requests: Mapping[str, str]


def restore_fixture(text: str, owner: Owner) -> RestoreResult:
    """Put back what `dumping.dump_part` wrote before it was deleted.

    Where a slug was given to something else meanwhile, what comes back takes another one:
    nothing that is there is changed. Raises `FixtureError` where the collection of a part was
    deleted, too.
    """
    with transaction.atomic():
        fixture = parse_trusted_fixture(text)
        if fixture.collection is not None:
            owned = Collection.objects.filter(owner=owner.pk if owner is not None else None)
            slug = _free(fixture.slug, owned, RESERVED)
            collection = apply_import(plan_import(fixture.renamed(slug), owner))
            return RestoreResult(collection, {each: each for each in fixture.requests})
        target = plan_import(fixture, owner).collection
        assert target is not None  # A part without its collection has no plan.
        requests = _slugs(fixture.requests, target.requests.all())
        beside = _beside(fixture, _slugs(fixture.folders, target.folders.all()), requests)
        return RestoreResult(apply_import(plan_import(beside, owner)), requests)


def _beside(fixture: Fixture, folders: Mapping[str, str], requests: Mapping[str, str]) -> Fixture:
    """A part with these slugs, which nothing in its collection has."""
    return replace(
        fixture,
        folders={
            folders[slug]: {**fields, "slug": folders[slug]}
            for slug, fields in fixture.folders.items()
        },
        requests={
            requests[slug]: {
                **fields,
                "slug": requests[slug],
                "folder": folders.get(fields["folder"], fields["folder"]),
            }
            for slug, fields in fixture.requests.items()
        },
    )


def _slugs(wanted: Iterable[str], others: Any) -> Mapping[str, str]:
    return {slug: _free(slug, others) for slug in wanted}


def _free(slug: str, others: Any, reserved: frozenset[str] = frozenset()) -> str:
    if slug not in reserved and not others.filter(slug=slug).exists():
        return slug
    return free_slug(slug, "restored", others, reserved)
