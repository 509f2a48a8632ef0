"""Explanations of names: how they are found, and that every name has one that says more than it.

Names in the specifications' examples and in captures: `test_annotations`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from playground.conformance.rule import Level
from playground.conversation import cards
from playground.demo.a2a.skills import SKILLS
from playground.demo.mcp.tools import TOOLS
from playground.models.runs import RunState
from playground.protocols import events, registry, schemas
from playground.protocols.a2a.reader import STATES
from playground.protocols.agent_api import constants, parts
from playground.protocols.explanations import (
    explain,
    explain_in,
    schema_of_response,
)
from playground.protocols.frames import FrameKind
from playground.protocols.json_pointer import pointer_of
from playground.protocols.jsonrpc import EXPLAINED
from playground.protocols.mcp.elicitation import ACTIONS
from playground.protocols.nlweb import legacy
from playground.protocols.nlweb.versions import RESPONSE_FORMATS, RESPONSE_TYPES, VERSIONS
from tests import strings
from tests.support.schema_places import Place, explained_places

ACTION: dict[str, Any] = {"protocol": "HTTP", "method": "POST"}


SCHEMA: dict[str, Any] = {
    "title": "Thing",
    "description": "A thing.",
    "x-section": "1",
    "properties": {
        "kind": {
            "description": "Kind of the thing.",
            "examples": ["a", "b"],
            "x-otherwise": "Without it, the thing is an a.",
            "x-values": {"a": "First kind."},
        },
        "part": {"$ref": "#/$defs/part"},
        "own": {"description": "Of its own.", "$ref": "#/$defs/part"},
        "numbered": {"description": "With a section.", "x-section": "3"},
    },
    "allOf": [
        {"additionalProperties": {"description": "Any name."}},
        {"properties": {"late": {"description": "Listed later."}}},
    ],
    "$defs": {
        "part": {
            "description": "A part.",
            "x-section": "2",
            "properties": {"part": {"$ref": "#/$defs/part"}, "size": {"description": "Size."}},
        }
    },
}


@pytest.mark.parametrize(
    ("pointer", "name", "text", "section"),
    [
        ("", "Thing", "A thing.", "1"),
        ("/kind", "kind", "Kind of the thing.", "1"),
        # The section of the nearest schema counts, and the description beside a reference.
        ("/part/part/size", "size", "Size.", "2"),
        ("/own", "own", "Of its own.", "1"),
        ("/numbered", "numbered", "With a section.", "3"),
        # A name that is listed anywhere is not an extension.
        ("/late", "late", "Listed later.", "1"),
        ("/other", "other", "Any name.", "1"),
    ],
)
def test_the_parts_of_a_schema(pointer: str, name: str, text: str, section: str) -> None:
    found = explain_in(SCHEMA, pointer)
    assert found
    assert (found.name, found.text, found.section) == (name, text, section)
    is_kind = pointer == "/kind"
    assert found.example == ("a" if is_kind else None)
    assert found.values == ({"a": "First kind."} if is_kind else {})
    assert found.otherwise == ("Without it, the thing is an a." if is_kind else "")


@pytest.mark.parametrize(
    ("schema", "pointer", "listed"),
    [
        ("ask-request", "/query/text", True),
        ("answer", "/results/17/@type", True),
        # An extension, and a place that no schema describes.
        ("ask-request", "/query/diet", False),
        ("failure", "/error/message/nested/9", None),
    ],
)
def test_the_places_of_a_document(schema: str, pointer: str, listed: bool | None) -> None:
    found = explain("nlweb", "0.55", schema, pointer)
    assert (found and found.is_listed) is listed
    assert found is None or found.name == pointer.rpartition("/")[2]


def test_an_unknown_schema() -> None:
    with pytest.raises(ValueError, match="No schema"):
        explain("nlweb", "0.55", "nothing", "")


def test_conditions_apply_as_to_the_document() -> None:
    answer = {"results": [{"actions": [ACTION, {"protocol": "MCP", "tool": "x"}]}]}
    at = "/results/0/actions/{}/{}"
    assert explain("nlweb", "0.55", "answer", at.format(0, "method"), answer)
    assert not explain("nlweb", "0.55", "answer", at.format(1, "method"), answer)
    assert explain("nlweb", "0.55", "answer", at.format(1, "method"))


def test_schemas_that_refer_to_each_other_end() -> None:
    endless = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    assert explain_in({**endless, "$ref": "#/$defs/a"}, "/x") is None


@pytest.mark.parametrize(
    ("protocol", "document", "schema"),
    [
        ("nlweb", {"query": {"text": "x"}}, "ask-request"),
        ("nlweb", {"promise_token": "x"}, "await-request"),
        ("nlweb", {"promise_token": "x", "query": {}}, "ask-request"),
        ("nlweb", [], "ask-request"),
        ("agent-api", {"input": []}, "request"),
    ],
)
def test_the_schema_of_a_request(protocol: str, document: Any, schema: str) -> None:
    assert registry.schema_of_request(protocol, document) == schema


@pytest.mark.parametrize(
    ("protocol", "version", "document", "event", "schema"),
    [
        ("nlweb", "0.55", {"_meta": {"response_type": "Promise"}}, "", "promise"),
        ("nlweb", "0.55", {"_meta": {"response_type": "failure"}}, "error", "event-error"),
        ("nlweb", "0.54", {"_meta": {}}, "start", "event-start"),
        ("nlweb", "0.55", {"results": []}, "unheard", "response"),
        ("nlweb", "0.55", None, "", "response"),
        ("agent-api", "1", {"object": "message"}, "", "message"),
        ("agent-api", "1", {"error": "broken"}, "", "error"),
    ],
)
def test_the_schema_of_a_response(
    protocol: str, version: str, document: Any, event: str, schema: str
) -> None:
    assert schema_of_response(protocol, version, document, event) == schema


FIXTURES = Path(__file__).parents[2] / "fixtures"


def unexplained(protocol: str, version: str, schema: str, document: Any) -> list[str]:
    """Return the pointers of the names in a document without an explanation."""
    return [
        pointer
        for pointer in pointers(document)
        if not has_explanation(protocol, version, schema, pointer, document)
    ]


def has_explanation(protocol: str, version: str, schema: str, pointer: str, document: Any) -> bool:
    found = explain(protocol, version, schema, pointer, document)
    return found is not None and bool(found.text and found.section)


def pointers(value: Any, keys: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the pointer of every member of a value, at any depth."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield pointer_of((*keys, name))
            yield from pointers(inner, (*keys, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from pointers(inner, (*keys, str(number)))


def assert_listed(protocol: str, version: str, schema: str, pointer: str) -> None:
    found = explain(protocol, version, schema, pointer)
    assert found, pointer
    assert found.is_listed, pointer


def test_the_headers_that_the_code_names_are_explained() -> None:
    """What the playground and its demo send: every literal that looks like a header's name.

    Some headers of the demo are data.
    """
    known = {
        name
        for schema in ("request-headers", "response-headers")
        for name in schemas.load("http", "1", schema)["properties"]
    }
    root = Path(schemas.__file__).parents[2]
    folders = (("protocols", "*.py"), ("transport", "*.py"), ("demo", "*.py"), ("demo", "*.json"))
    named = {
        name.lower()
        for folder, pattern in folders
        for path in sorted((root / folder).rglob(pattern))
        for name in HEADER.findall(path.read_text())
    }
    assert {"content-type", "mcp-session-id", "retry-after"} <= named
    assert named - known == NO_HEADERS


HEADER = re.compile(r'"([A-Z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+)"')
#: Literals of that form that are something else, and headers of scenarios that mean nothing.
NO_HEADERS = {"x-note", "x-count", "x-cart-source"}


@pytest.mark.parametrize("protocol", ["HTTP", "MCP", "A2A"])
def test_every_member_of_an_action_is_explained(protocol: str) -> None:
    members = {
        "HTTP": {
            "method": "POST",
            "endpoint": "/x",
            "params": {"a": {"b": 1}},
            "headers": {"X": "y"},
        },
        "MCP": {"server": "s", "tool": "t", "arguments": {"items": ["a"]}},
        "A2A": {"agent_url": "/x", "skill": "s", "message": {"text": "a"}},
    }[protocol]
    action = {"name": "a", "description": "b", "protocol": protocol, **members}
    assert unexplained("nlweb", "0.55", "item", {"actions": [action]}) == []


def test_every_attribute_of_the_demo_corpus_is_explained() -> None:
    rows = json.loads((FIXTURES / "demo_corpus.json").read_text("utf-8"))
    documents = [row["fields"]["document"] for row in rows if row["model"] == "demo.item"]
    assert len(documents) > 100
    # Items of one type have the same members.
    for found in {tuple(sorted(pointers(each))): each for each in documents}.values():
        assert unexplained("nlweb", "0.55", "item", found) == []
        for name in found:
            assert_listed("nlweb", "0.55", "item", pointer_of([name]))


def test_every_member_that_cards_show_is_listed() -> None:
    source = Path(cards.__file__).read_text("utf-8")
    shown = set(re.findall(r'\.get\("([@\w]+)"', source)) | cards.PLACED
    shown = shown.union(*(row.shows for row in cards.CARD_TYPES))
    properties = set(names_of(schemas.load("nlweb", "0.55", "item")))
    assert "recipeIngredient" in shown
    aliases, of_parts = {"type"}, {"item", "contentUrl", "encodingFormat"}
    assert shown - properties == aliases | of_parts


def names_of(schema: Any) -> Iterator[str]:
    """Yield the names of all properties within a schema."""
    if isinstance(schema, Mapping):
        if isinstance(found := schema.get("properties"), Mapping):
            yield from found
        for inner in schema.values():
            yield from names_of(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from names_of(inner)


def test_every_attribute_of_the_tools_and_skills_of_the_demo_is_explained() -> None:
    assert TOOLS
    for tool in TOOLS:
        assert unexplained("mcp", "1", "tool", tool) == []
    assert unexplained("a2a", "1", "card", {"skills": list(SKILLS)}) == []


#: Protocol, version and name of each schema.
ALL = [(*version, name) for version in schemas.versions() for name in schemas.names(*version)]

#: Words that say nothing about a name.
EMPTY = frozenset(
    "a an and as at by for from in into is it its no not of on or that the this to was with".split()
)


def described(protocol: str, version: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that explains a value: itself, or the file that it refers to."""
    if "description" in schema or "$ref" not in schema:
        return schema
    return schemas.read(protocol, version, schema["$ref"].removesuffix(".json"))


def words(text: str) -> list[str]:
    """Return the words of a text or of a name: `estimated_time` and `cookTime` have two."""
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    return [word.lower() for word in re.findall(r"[^\W\d_]+", spaced)]


def sentences(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield every text of a schema that users read."""
    yield schema["description"]
    if "x-otherwise" in schema:
        yield schema["x-otherwise"]
    yield from schema.get("x-values", {}).values()


class TestFiles:
    @pytest.mark.parametrize(("protocol", "version", "name"), ALL)
    def test_are_schemas_with_examples_that_hold(
        self, protocol: str, version: str, name: str
    ) -> None:
        schema = schemas.read(protocol, version, name)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["title"]
        assert schema["x-section"]
        assert schema["description"].endswith(".")
        validator = jsonschema.Draft202012Validator(schemas.load(protocol, version, name))
        assert schema["examples"]
        for example in schema["examples"]:
            assert list(validator.iter_errors(example)) == []

    def test_there_are_those_that_pages_name(self) -> None:
        expected = {
            ("http", "1"): {"request-line", "request-headers", "response-headers", "status", "sse"},
            ("mcp", "1"): {"message"},
            ("a2a", "1"): {"card", "message"},
            ("playground", "1"): {"states", "outcomes", "events", "frames", "phases", "levels"},
            ("nlweb", "legacy"): {"ask-request", "await-request", "response", "item", "parameters"},
        }
        for folder, names in expected.items():
            assert names <= set(schemas.names(*folder))


def problems(protocol: str, version: str, place: Place) -> Iterator[str]:
    """Yield what is wrong with the explanation of a place."""
    schema = described(protocol, version, place.schema)
    text = schema.get("description", "")
    if not text.endswith("."):
        yield "no sentence"
    if ". " in text:
        yield "more than one sentence"
    if len(text.split()) < (4 if place.name else 3):
        yield "too short"
    if not place.name:
        return
    if not (schema.get("examples") or schema.get("x-values")):
        yield "no example and no values"
    if not (place.section or schema.get("x-section")):
        yield "no section"
    others = {word for word in words(text) if word not in EMPTY} - set(words(place.name))
    if len(others) < 3:
        yield "repeats the name"


class TestNames:
    @pytest.mark.parametrize(("protocol", "version", "name"), ALL)
    def test_are_explained(self, protocol: str, version: str, name: str) -> None:
        found = {
            place.where: listed
            for place in explained_places(schemas.read(protocol, version, name))
            if (listed := list(problems(protocol, version, place)))
        }
        assert found == {}

    def test_a_text_that_only_repeats_the_name_is_found(self) -> None:
        schema = {"description": "The name of the user.", "examples": ["Jane"]}
        place = Place("/user_name", "user_name", schema, "1")
        assert list(problems("nlweb", "0.55", place)) == ["repeats the name"]
        nothing = Place("/id", "id", {}, "")
        assert len(list(problems("nlweb", "0.55", nothing))) == 5

    @pytest.mark.parametrize(("protocol", "version", "name"), ALL)
    def test_values_that_are_listed_have_a_meaning(
        self, protocol: str, version: str, name: str
    ) -> None:
        for place in explained_places(schemas.read(protocol, version, name)):
            listed = place.schema.get("enum", [])
            if "const" in place.schema:
                listed = [place.schema["const"]]
            meanings = place.schema.get("x-values", {})
            missing = [value for value in listed if as_key(value) not in meanings]
            assert missing == [], place.where
            # The first example is shown beside the meanings.
            assert all(isinstance(key, str) and key for key in meanings)

    @pytest.mark.slow
    def test_texts_have_no_refused_phrases(self) -> None:
        phrases = [phrase.pattern.pattern for phrase in strings.refused_phrases()]
        any_phrase = re.compile("|".join(phrases), re.IGNORECASE)
        assert {text for text in all_texts() if any_phrase.search(text)} == set()

    def test_texts_are_sentences_with_typographic_quotes(self) -> None:
        found = {
            text
            for text in all_texts()
            if not text.endswith(".") or not {"'", '"'}.isdisjoint(text) or "  " in text
        }
        assert found == set()


@cache
def all_texts() -> frozenset[str]:
    """Return every text of every schema that users read."""
    files = [schemas.read(*each) for each in ALL]
    explained = [*files, *(place.schema for file in files for place in explained_places(file))]
    return frozenset(
        text for schema in explained if "description" in schema for text in sentences(schema)
    )


def as_key(value: Any) -> str:
    """Return a value as a key of `x-values`: strings unchanged, others as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


A2A_STATES = [
    *STATES,
    *(f"TASK_STATE_{name.upper().replace('-', '_')}" for name in STATES),
]


def traits(name: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return a trait of each version of NLWeb."""
    return [(version.name, version.traits[name]) for version in VERSIONS]


#: Closed lists of the code: each value has a meaning at this place.
LISTS: list[tuple[str, str, str, str, Any]] = [
    *(
        ("nlweb", version.name, *place)
        for version in VERSIONS
        for place in (
            ("response", "/_meta/response_type", RESPONSE_TYPES),
            ("response-meta", "/response_format", RESPONSE_FORMATS),
            ("ask-request", "/prefer/response_format", RESPONSE_FORMATS),
            ("ask-request", "/prefer/mode", ("list", "summarize")),
            ("ask-request", "/prefer/streaming", ("true", "false")),
            ("await-request", "/action", ("checkin", "cancel")),
            ("item", "/actions/0/protocol", ("HTTP", "MCP", "A2A")),
        )
    ),
    *(
        ("nlweb", version, "elicitation", "/elicitation/questions/0/type", types)
        for version, types in traits("question_types")
    ),
    *(
        ("nlweb", version, "failure", "/error/code", codes)
        for version, codes in traits("error_codes")
    ),
    *(("http", "1", "sse", "/event", names) for _, names in traits("stream_events")),
    *(
        ("agent-api", "1", *place)
        for place in (
            ("message", "/type", constants.CALLS | constants.OUTPUTS),
            ("message", "/status", constants.FINAL_STATUSES),
            ("content", "/type", parts.MEMBERS),
            ("content", "/delta", ("true", "false", "null")),
        )
    ),
    ("nlweb", "legacy", "response", "/message_type", legacy.MESSAGE_MEMBERS),
    ("mcp", "1", "message", "/params/inputResponses/x/action", ACTIONS),
    ("mcp", "1", "message", "/result/resultType", ("complete", "input_required")),
    ("mcp", "1", "message", "/result/cacheScope", ("public", "private")),
    ("a2a", "1", "message", "/result/status/state", A2A_STATES),
    ("a2a", "1", "message", "/params/message/role", ("user", "ROLE_USER", "ROLE_AGENT", "agent")),
]  # fmt: skip


@pytest.mark.parametrize(("protocol", "version", "schema", "pointer", "values"), LISTS)
def test_values_of_closed_lists_have_a_meaning(
    protocol: str, version: str, schema: str, pointer: str, values: Any
) -> None:
    found = explain(protocol, version, schema, pointer)
    assert found
    assert set(values) <= found.values.keys()


def test_every_error_code_of_json_rpc_has_a_meaning() -> None:
    found = [explain(name, "1", "message", "/error/code") for name in ("mcp", "a2a")]
    meanings = {code for each in found if each for code in each.values}
    # -32800 is that of the Language Server Protocol.
    assert {str(code) for code in EXPLAINED} - {"-32800"} <= meanings


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ("states", set(RunState.values)),
        ("outcomes", {outcome.value for outcome in events.Outcome}),
        ("frames", {kind.name.lower() for kind in FrameKind}),
        ("levels", {level.value for level in Level}),
        ("phases", {"connect", "wait", "first", "stream"}),
    ],
)
def test_words_of_the_playground_are_those_of_the_code(schema: str, names: set[str]) -> None:
    assert set(schemas.read("playground", "1", schema)["properties"]) == names


def test_every_event_of_the_playground_is_explained() -> None:
    kinds = [each for each in vars(events).values() if isinstance(each, type)]
    kinds = [each for each in kinds if issubclass(each, events.Event) and each is not events.Event]
    labels = {events.event_label(object.__new__(kind)) for kind in kinds}
    assert set(schemas.read("playground", "1", "events")["properties"]) == labels


#: Places where 0.54 and 0.55 differ, and with them their explanations.
DIFFERENCES = {
    ("ask-request", "/prefer/response_format"),  # 3.3.1: 0.54 has no default.
    ("ask-request", "/prefer/mode"),  # 3.3.2: 0.55 permits several; the place of the summary.
    ("await-request", "/action"),  # 4.2: 0.55 names the failure after a cancellation.
    ("action", "/protocol"),  # 0.54 may omit it.
    ("failure", "/error/code"),  # 4.1.4: 0.55 lists codes.
    ("elicitation", "/elicitation/questions/0/type"),  # 4.1.3: 0.55 lists types.
    ("item", "/@type"),  # 4.1.1: SearchSummary.
}


def test_versions_differ_only_where_the_specifications_do() -> None:
    found: dict[str, dict[tuple[str, str], Any]] = {}
    for version in ("0.54", "0.55"):
        for name in schemas.names("nlweb", version):
            for place in explained_places(schemas.read("nlweb", version, name)):
                texts = list(sentences(described("nlweb", version, place.schema)))
                values = place.schema.get("x-values", {})
                capital = {
                    text
                    for kind, text in values.items()
                    if kind[0].isupper() and kind.lower() in RESPONSE_TYPES
                }
                found.setdefault(version, {})[name, place.where] = [
                    text for text in texts if text not in capital
                ]
    old, new = found["0.54"], found["0.55"]
    differing = {place for place in old.keys() & new.keys() if old[place] != new[place]}
    assert differing == DIFFERENCES
