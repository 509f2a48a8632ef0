"""The grammar of single breaks, and of variations that break nothing, over a JSON document."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.qa.judge.mutants import Level, Place, changed, parent, pointed, without

# One value of each JSON type, put where another type belongs.
SAMPLES: dict[str, Any] = {
    "string": "text",
    "integer": 7,
    "number": 0.5,
    "boolean": True,
    "object": {"member": 1},
    "array": ["text"],
    "null": None,
}


@dataclass(frozen=True)
class Attribute:
    """An attribute that the specification defines, and the level of each way to break it.

    `required` is the level of a document without it ("" if it is optional), `wrong` that of a
    value of another type, `empty` that of an empty string or list ("" makes no such document).
    `values` is a closed list, `outside` the level of a string that is not in it.
    """

    pointer: str
    types: str
    sentence: str
    required: Level = ""
    wrong: Level = "must"
    values: tuple[str, ...] = ()
    outside: Level = "must"
    empty: Level = ""


@dataclass(frozen=True)
class Variation:
    """A document with at most one deviation."""

    name: str
    document: Any
    level: Level
    sentence: str
    pointers: tuple[str, ...] = ()

    def verdict(self, event: int | None = None) -> dict[str, Any]:
        """Return what a mutant made of it has: in the data of an event, or in the whole reply."""
        places = tuple(Place(pointer, event) for pointer in self.pointers)
        return {"level": self.level, "sentence": self.sentence, "pointers": places}


def others(document: Any) -> Iterator[tuple[str, Any]]:
    """Return values that are not of the type of a document, which is an object, by their types."""
    yield from (("array", [document]), ("string", "text"), ("number", 7), ("null", None))


def put(document: Any, level: Level, *rows: tuple[str, str, Any, str]) -> Iterator[Variation]:
    """Put values into a document, one in each variation: its name, pointer, value and sentence."""
    for name, pointer, value, sentence in rows:
        places = (pointer,) if level else ()
        yield Variation(name, changed(document, pointer, value), level, sentence, places)


def present(document: Any, pointer: str) -> bool:
    try:
        pointed(document, pointer)
    except (LookupError, TypeError):
        return False
    return True


def vary(document: Any, attributes: Iterable[Attribute]) -> Iterator[Variation]:
    """Break every attribute of a document, once in each way that its type has."""
    for attribute in attributes:
        if present(document, parent(attribute.pointer)):
            yield from _missing(document, attribute)
            yield from _wrong_type(document, attribute)
            yield from _wrong_value(document, attribute)


def _missing(document: Any, attribute: Attribute) -> Iterator[Variation]:
    pointer = attribute.pointer
    if not present(document, pointer) or pointer.rpartition("/")[2].isdigit():
        return
    if attribute.required:
        yield Variation(
            f"{pointer} is missing",
            without(document, pointer),
            attribute.required,
            attribute.sentence,
            (pointer,),
        )
    else:
        yield Variation(
            f"{pointer} is left out",
            without(document, pointer),
            "",
            f"Optional. {attribute.sentence}",
        )


def fits(sample: str, types: str) -> bool:
    """Say whether a value of this JSON type is allowed where one of `types` is."""
    return sample in types.split() or (sample == "integer" and "number" in types.split())


def _wrong_type(document: Any, attribute: Attribute) -> Iterator[Variation]:
    for sample, value in SAMPLES.items():
        if fits(sample, attribute.types):
            continue
        if sample == "null" and attribute.wrong == "should" and attribute.required == "must":
            continue  # null may be read as absent, and the levels of the two differ
        yield Variation(
            f"{attribute.pointer} is of type {sample}",
            changed(document, attribute.pointer, value),
            attribute.wrong,
            attribute.sentence,
            (attribute.pointer,),
        )


def _wrong_value(document: Any, attribute: Attribute) -> Iterator[Variation]:
    pointer = attribute.pointer
    if attribute.values and present(document, pointer):
        value = str(pointed(document, pointer))
        others = dict.fromkeys((value.swapcase(), "unheard_of", f" {value}", ""))
        for other in (other for other in others if other != value):
            yield Variation(
                f"{pointer} is “{other}”",
                changed(document, pointer, other),
                attribute.outside,
                attribute.sentence,
                (pointer,),
            )
    if attribute.empty and present(document, pointer):
        nothing: Any = [] if "array" in attribute.types.split() else ""
        yield Variation(
            f"{pointer} is empty",
            changed(document, pointer, nothing),
            attribute.empty,
            attribute.sentence,
            (pointer,),
        )


def unknown_members(document: Any, pointers: Iterable[str], reason: str) -> Iterator[Variation]:
    """Add a member that the specification does not define to each object at a pointer."""
    for pointer in pointers:
        for name, value in (
            ("x_vendor", "text"),
            ("x_nothing", None),
            ("x_nested", {"list": [1, {"deep": [True, None]}]}),
            ("https://vendor.example/ns#member", 3),
        ):
            holder = {**pointed(document, pointer), name: value}
            yield Variation(
                f"{pointer or 'top'} has {name}", changed(document, pointer, holder), "", reason
            )


def turned(value: Any) -> Any:
    """Return a document with the members of every object in the opposite order."""
    if isinstance(value, dict):
        return {name: turned(value[name]) for name in reversed(value)}
    return [turned(item) for item in value] if isinstance(value, list) else value
