"""The schema files: valid, complete in themselves, and each with examples that hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

import jsonschema
import pytest

from playground.protocols import schemas
from playground.protocols.nlweb import versions
from tests.support.agent_api_examples import REQUEST, STREAMS

VERSIONS = [version.name for version in versions.VERSIONS]
ALL = [(version, name) for version in VERSIONS for name in schemas.names("nlweb", version)]


def errors(version: str, name: str, value: Any, protocol: str = "nlweb") -> list[str]:
    validator = jsonschema.Draft202012Validator(schemas.load(protocol, version, name))
    return [error.json_path for error in validator.iter_errors(value)]


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from nodes(inner)


def without_effect(patch: dict[str, Any], patched: dict[str, Any]) -> Iterator[str]:
    """Members that change nothing, nor tell where a new one after them belongs."""
    for name, following in zip(patch, [*patch, ""][1:], strict=False):
        change, value = patch[name], patched.get(name)
        if isinstance(change, dict) and isinstance(value, dict) and change:
            yield from without_effect(change, value)
        elif (change == value or change == {}) and following in (*patched, ""):
            yield name


class TestFiles:
    @pytest.mark.parametrize(("version", "name"), ALL)
    def test_are_complete_in_themselves(self, version: str, name: str) -> None:
        schema = schemas.load("nlweb", version, name)
        for node in nodes(schema):
            if isinstance(reference := node.get("$ref"), str):
                prefix, _, target = reference.rpartition("/")
                assert prefix == "#/$defs"
                assert target in schema["$defs"]

    def test_describe_the_names_of_items_once(self) -> None:
        """Both versions of the item refer to one file, which `load` puts into them."""
        own = [schemas.read("nlweb", version, "item")["properties"] for version in ("0.54", "0.55")]
        folder = resources.files(schemas.__name__)
        shared = json.loads((folder / "item.json").read_text("utf-8"))["properties"]
        assert not [name for name in own[0] if own[0][name] == own[1].get(name)]
        for version, names in zip(("0.54", "0.55"), own, strict=True):
            loaded = schemas.load("nlweb", version, "item")
            assert "$ref" not in loaded
            assert loaded["properties"] == {**shared, **loaded["properties"]}
            assert names.keys() | shared.keys() == loaded["properties"].keys()

    @pytest.mark.parametrize("version", VERSIONS)
    def test_there_is_one_for_every_stream_event(self, version: str) -> None:
        (row,) = (row for row in versions.VERSIONS if row.name == version)
        found = {n.removeprefix("event-") for n in schemas.names("nlweb", version) if "event-" in n}
        assert found == set(row.traits["stream_events"])

    def test_say_only_what_differs_from_what_they_patch(self) -> None:
        for version, name in ALL:
            folder = resources.files(schemas.__name__) / f"nlweb-{version}"
            file = json.loads((folder / f"{name}.json").read_text("utf-8"))
            if target := file.pop("x-patch-of", None):
                patched = json.loads((folder / target).read_text("utf-8"))
                assert not [*without_effect(file, patched)]

    def test_keep_the_order_of_a_patch(self) -> None:
        """0.54 spells response types in two ways, and shows them in pairs."""
        loaded = schemas.load("nlweb", "0.54", "response-meta")["properties"]
        spelled = ["answer", "Answer", "elicitation", "Elicitation"]
        assert [*loaded["response_type"]["x-values"]][:4] == spelled
        names = [*loaded]
        assert names[names.index("openai/widgetAccessible") + 1] == "summary"
        assert "summary" not in schemas.load("nlweb", "0.55", "response-meta")["properties"]

    def test_leave_out_what_a_patch_sets_to_null(self) -> None:
        kinds = [
            schemas.load("nlweb", version, "item")["properties"]["@type"]["x-values"]
            for version in ("0.54", "0.55")
        ]
        assert kinds[0].keys() == kinds[1].keys() - {"SearchSummary"}


class TestLoad:
    @pytest.mark.parametrize(
        ("protocol", "version", "name"),
        [
            ("nlweb", "0.55", "nothing"),
            ("nlweb", "0.55", "../nlweb-0.54/answer"),
            ("nlweb", "1.0", "answer"),
            ("smtp", "0.55", "answer"),
            ("..", "..", "answer"),
        ],
    )
    def test_of_what_there_is_not(self, protocol: str, version: str, name: str) -> None:
        with pytest.raises(ValueError, match=r"^No schemas? "):
            schemas.load(protocol, version, name)


class TestConstraints:
    @pytest.mark.parametrize(("version", "name"), ALL)
    def test_are_those_of_the_schema(self, version: str, name: str) -> None:
        examples = schemas.load("nlweb", version, name)["examples"]
        broken = [
            variant
            for example in examples
            for member in example
            for variant in (
                {**example, member: None},
                {**example, member: {}},
                {each: value for each, value in example.items() if each != member},
            )
        ]
        validator = jsonschema.Draft202012Validator(
            schemas.load_constraints("nlweb", version, name)
        )
        for value in (*examples, *broken, None):
            found = [error.json_path for error in validator.iter_errors(value)]
            assert found == errors(version, name, value)

    def test_do_not_visit_members_that_are_only_described(self) -> None:
        """An agent may send a session context with a million members."""
        context = schemas.load("nlweb", "0.55", "response-meta")["properties"]["session_context"]
        assert "additionalProperties" in context
        found = schemas.load_constraints("nlweb", "0.55", "response-meta")
        assert found["properties"]["session_context"] == {"type": "object"}


META = {"response_type": "answer", "version": "0.55"}
ASKED = {**META, "response_type": "elicitation"}
NLWEB_54, NLWEB_55, AGENT_API = ("nlweb", "0.54"), ("nlweb", "0.55"), ("agent-api", "1")

#: Version, schema, a value that departs from it, and where it does; None for anywhere.
DEPARTURES = [
    (NLWEB_55, "answer", {"_meta": META}, "$"),
    (NLWEB_55, "answer", {"_meta": META, "content": []}, "$"),
    (NLWEB_55, "answer", {"meta": META, "results": []}, "$"),
    (NLWEB_55, "answer", {"_meta": {**META, "response_type": "Answer"}, "results": []}, None),
    (NLWEB_55, "answer", {"_meta": META, "results": ["text"]}, "$.results[0]"),
    (NLWEB_55, "event-start", {"_meta": META}, None),
    (NLWEB_55, "event-result", {"index": -1, "item": {}}, "$.index"),
    (NLWEB_55, "event-result", {"@type": "Recipe"}, "$"),
    (NLWEB_54, "event-content", {"type": "text"}, "$"),
    # 0.55, section 4.1.3: a selection without options.
    *((NLWEB_55, "elicitation",
       {"_meta": ASKED, "elicitation": {"questions": [{"id": "q", "text": "Q?", "type": kind}]}},
       "$.elicitation.questions[0]") for kind in ("single_select", "multi_select")),
    (AGENT_API, "event", {"object": "thing"}, None),
    (AGENT_API, "event", {"object": "response", "status": "created"}, None),
    (AGENT_API, "event", {"object": "message", "id": "msg_1"}, None),
    (AGENT_API, "event", {"object": "content", "delta": True, "text": "x"}, None),
    (AGENT_API, "content", {"type": "text", "text": 5}, None),
    (AGENT_API, "response",
     {"id": "r", "object": "response", "status": "failed", "error": "no"}, None),
    (AGENT_API, "request", {"input": []}, None),
    (AGENT_API, "input-content", {"type": "image"}, None),
]  # fmt: skip


@pytest.mark.parametrize(("version", "name", "value", "where"), DEPARTURES)
def test_departures(version: tuple[str, str], name: str, value: Any, where: str | None) -> None:
    found = errors(version[1], name, value, version[0])
    assert found
    assert where is None or where in found


@pytest.mark.parametrize(
    ("protocol", "missing"),
    [
        ("HTTP", {"method", "endpoint"}),
        ("MCP", {"server", "tool"}),
        ("A2A", {"agent_url", "skill"}),
        ("other", set()),
    ],
)
def test_an_action_without_what_its_protocol_needs(protocol: str, missing: set[str]) -> None:
    """0.55, section 5."""
    action = {"name": "a", "description": "d", "protocol": protocol}
    assert len(errors("0.55", "action", action)) == len(missing)
    assert errors("0.55", "action", {**action, **dict.fromkeys(missing, "x")}) == []


@pytest.mark.parametrize("spelling", ["answer", "Answer"])
@pytest.mark.parametrize("member", ["_meta", "meta"])
def test_what_0_54_leaves_open(member: str, spelling: str) -> None:
    meta = {"response_type": spelling, "version": "0.54"}
    assert errors("0.54", "answer", {member: meta, "results": []}) == []


def test_what_the_agent_api_prints_holds() -> None:
    printed = [("request", REQUEST), *(("event", each) for each in (*STREAMS[0], *STREAMS[1]))]
    for name, value in printed:
        assert errors("1", name, value, "agent-api") == [], value
