"""Example collections: one written by hand, and strategies of Hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from playground.collections.fixture import Fixture
from playground.models import Collection, Folder, SavedRequest
from tests.support.json_values import objects


def example(slug: str = "soups", owner: Any = None) -> Collection:
    """Create a collection with two folders and four requests, one of them in no folder."""
    collection = Collection.objects.create(
        name="Soups", slug=slug, description="What we ask *often*.", owner=owner
    )
    hot = Folder.objects.create(collection=collection, name="Hot", slug="hot", position=1024)
    cold = Folder.objects.create(collection=collection, name="Cold", slug="cold", position=2048)
    for position, (name, folder) in enumerate(
        [("First", None), ("Lentils", hot), ("Leek", hot), ("Gazpacho", cold)], 1
    ):
        SavedRequest.objects.create(
            collection=collection, folder=folder, name=name, slug=name.lower(),
            position=position * 1024, agent="demo", address="http://127.0.0.1:8000/demo",
            document={"query": {"text": f"soup: {name}"}, "prefer": {"streaming": True}},
            headers=[["X-Trace", "{{trace}}"]], notes=f"About {name}.",
            expectations=[{"type": "state", "equals": "completed"}],
            captures={"first": "$.results[0].url"},
        )  # fmt: skip
    return collection


#: Text that a text column takes: no NUL, no halves of characters; anything else.
_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
_NAME = _TEXT.filter(lambda text: bool(text.strip()))
_SLUG = st.from_regex(r"[A-Za-z0-9_-]{1,20}", fullmatch=True)
_VARIABLE = st.from_regex(r"[A-Za-z0-9_.-]{1,12}", fullmatch=True)
#: In a document also what a text column refuses: it is stored as JSON.
_ODD = st.sampled_from(["\0", "\ud800", "\udfff x", "\u2028", "\x85", "\ufeff", "🥣", "{{name}}"])
_POSITION = st.integers(0, 2**31 - 1)


def _deep(depth: int) -> Any:
    value: Any = {"deep": "\ud83d"}
    for _ in range(depth):
        value = [value]
    return value


_DOCUMENT = objects(["query", "text", "a"], ["\0", "\ud800", "é"]) | st.builds(
    lambda depth, text: {"deep": _deep(depth), "text": text}, st.integers(0, 95), _ODD
)
_HEADERS = st.lists(
    st.tuples(st.from_regex(r"X-[A-Za-z]{1,8}", fullmatch=True), st.sampled_from(["", "a, b"])),
    max_size=3,
).map(lambda rows: [list(row) for row in rows])
_AUTH = st.one_of(
    st.just({}),
    st.just({"type": "none"}),
    st.builds(lambda name: {"type": "bearer", "secret": name}, _VARIABLE),
    st.builds(lambda name, user: {"type": "basic", "user": user, "secret": name}, _VARIABLE, _TEXT),
    st.builds(lambda name: {"type": "api_key", "header": "X-Key", "secret": name}, _VARIABLE),
)
_EXPECTATIONS = st.lists(
    st.sampled_from(
        [
            {"type": "state", "equals": "completed"},
            {"type": "status", "equals": 200},
            {"type": "json", "path": "$.a", "equals": 1.0},
            {"type": "json", "path": "$['\u2028']", "exists": True},
        ]
    ),
    max_size=3,
)
_SPOKEN = st.sampled_from(
    [
        {"protocol": "nlweb", "binding": "http", "version": "0.54"},
        {"protocol": "nlweb", "binding": "mcp", "version": "0.55"},
        {"protocol": "agent-api", "binding": "http", "version": "1"},
    ]
)


@st.composite
def fixtures(draw: st.DrawFn) -> Fixture:
    """Return a strategy of collections that can be stored."""
    slug = draw(_SLUG.map(lambda text: f"c{text}"))
    folders = {
        key: {
            "name": draw(_NAME), "slug": key, "description": draw(_TEXT),
            "position": draw(_POSITION),
        }
        for key in draw(st.lists(_SLUG, max_size=3, unique=True))
    }  # fmt: skip
    keys = draw(st.lists(_SLUG, max_size=6, unique=True))
    requests = {key: _request(draw, key, [None, *folders]) for key in keys}
    step = st.fixed_dictionaries({"slug": st.just("a"), "title": _NAME, "text": _TEXT})
    lesson = st.fixed_dictionaries({"version": st.just(1), "steps": st.tuples(step).map(list)})
    collection = {
        "name": draw(_NAME), "slug": slug, "description": draw(_TEXT),
        "lesson": draw(st.none() | lesson),
    }  # fmt: skip
    return Fixture(slug, collection, folders, requests).ordered()


def _request(draw: st.DrawFn, slug: str, folders: list[str | None]) -> dict[str, Any]:
    return {
        "folder": draw(st.sampled_from(folders)),
        "name": draw(_NAME),
        "slug": slug,
        "position": draw(_POSITION),
        "agent": draw(st.sampled_from(["", "demo"])),
        "address": draw(st.sampled_from(["", "{{base}}/ask", "http://a.example/ask?q={{q}}"])),
        **draw(_SPOKEN),
        "document": draw(_DOCUMENT),
        "headers": draw(_HEADERS),
        "auth": draw(_AUTH),
        "notes": draw(_TEXT),
        "expectations": draw(_EXPECTATIONS),
        "captures": draw(st.dictionaries(_VARIABLE, st.just("$.results[0].url"), max_size=2)),
        "reply": None,
    }


COLLECTION = {"model": "playground.collection", "fields": {"name": "Soups", "slug": "soups"}}


FOLDER = {
    "model": "playground.folder",
    "fields": {"collection": ["soups"], "name": "Hot", "slug": "hot", "position": 1},
}


REQUEST = {
    "model": "playground.savedrequest",
    "fields": {
        "collection": ["soups"], "folder": ["soups", "hot"], "name": "Leek", "slug": "leek",
        "position": 1, "protocol": "nlweb", "binding": "http", "version": "0.55",
        "document": {"query": {"text": "leek"}},
    },
}  # fmt: skip


def with_fields(item: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**item, "fields": {**item["fields"], **fields}}
