"""Every attribute of every example of the specifications, and of the captures, has an explanation.

The examples are the files and constants that other tests use. Details of results are explained by
the type that defines them; names that NLWeb's documents have within MCP and A2A by NLWeb's schemas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from playground.demo.a2a.skills import SKILLS
from playground.demo.mcp.tools import TOOLS
from playground.protocols import schemas, sse
from playground.protocols.agent_api.parameters import PARAMETERS
from playground.protocols.explanations import explain, schema_of_request, schema_of_response
from playground.protocols.http import read_head
from playground.protocols.json_pointer import pointer_of
from playground.rendering import card_types
from tests.support.agent_api_examples import REQUEST, STREAMS
from tests.support.playbook import CAPTURES, EXAMPLES

#: A document: protocol, version, schema and value, and a name for the test.
Document = tuple[str, str, str, Any]
#: A name that the text of 0.54 writes as a placeholder.
PLACEHOLDER = "..."
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


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def events(data: bytes) -> Iterator[tuple[str, Any]]:
    """Yield the name and the JSON value of each event of a stream."""
    splitter = sse.Splitter()
    blocks = [block.data for block in splitter.feed(data)]
    for block in (*blocks, splitter.flush()):
        event = sse.parse(block)
        if event.data.startswith(("{", "[")):
            yield event.event or "", json.loads(event.data)


def is_placeholder(pointer: str) -> bool:
    return PLACEHOLDER in pointer.split("/")


def examples(version: str, pattern: str) -> list[Path]:
    return sorted((EXAMPLES / f"nlweb-{version}").glob(pattern))


def nlweb_documents() -> Iterator[Any]:
    """Yield every document of NLWeb in the examples, with its schema."""
    for version in ("0.54", "0.55"):
        for kind in ("ask", "await", "section"):
            for path in examples(version, f"{kind}-*.json"):
                yield document("nlweb", version, "", read(path), path.stem)
        for path in examples(version, "actions-*.json"):
            yield document("nlweb", version, "item", read(path), path.stem)
        for path in examples(version, "response-*.json"):
            yield document("nlweb", version, "", read(path), path.stem, is_response=True)
        for path in examples(version, "stream-*.sse"):
            for number, (name, value) in enumerate(events(path.read_bytes())):
                schema = schema_of_response("nlweb", version, value, name)
                yield document("nlweb", version, schema, value, f"{path.stem}-{number}-{name}")


def document(
    protocol: str, version: str, schema: str, value: Any, name: str, *, is_response: bool = False
) -> Any:
    """Return a parameter set of a document; its schema follows from it unless it is given."""
    if is_response:
        schema = schema or schema_of_response(protocol, version, value)
    schema = schema or schema_of_request(protocol, value)
    return pytest.param(protocol, version, schema, value, id=f"{protocol}-{version}-{name}")


def agent_api_documents() -> Iterator[Any]:
    yield document("agent-api", "1", "request", REQUEST, "request")
    for number, stream in enumerate(STREAMS):
        for position, value in enumerate(stream):
            schema = schema_of_response("agent-api", "1", value)
            yield document("agent-api", "1", schema, value, f"stream-{number}-{position}")


@pytest.mark.parametrize(
    ("protocol", "version", "schema", "value"), [*nlweb_documents(), *agent_api_documents()]
)
def test_every_attribute_of_an_example_is_explained(
    protocol: str, version: str, schema: str, value: Any
) -> None:
    found = unexplained(protocol, version, schema, value)
    assert [pointer for pointer in found if not is_placeholder(pointer)] == []


def test_no_example_is_missing() -> None:
    counts = {
        version: sum(path.suffix != ".txt" for path in examples(version, "*"))
        for version in ("0.54", "0.55")
    }
    assert counts == {"0.54": 28, "0.55": 28}
    assert sum(map(len, STREAMS)) == 15


# --- MCP: the envelope is explained by MCP's schema, the documents in it also by NLWeb's


def mcp_unexplained(message: Any, version: str) -> list[str]:
    """Return the names of a JSON-RPC message that neither MCP's schema nor NLWeb's explains."""
    return [
        pointer
        for pointer in unexplained("mcp", "1", "message", message)
        if not any(
            pointer.startswith(f"{at}/")
            and has_explanation("nlweb", version, schema, pointer.removeprefix(at), value)
            for at, schema, value in nlweb_in_mcp(message, version)
        )
    ]


def nlweb_in_mcp(message: Any, version: str) -> Iterator[tuple[str, str, Any]]:
    """Yield the location, the schema and the value of each document of NLWeb in a message."""
    arguments = message.get("params", {}).get("arguments")
    if isinstance(arguments, Mapping):
        yield "/params/arguments", schema_of_request("nlweb", arguments), arguments
    for at, value in (
        ("/result", message.get("result")),
        ("/result/structuredContent", (message.get("result") or {}).get("structuredContent")),
        ("/error/data", (message.get("error") or {}).get("data")),
    ):
        if isinstance(value, Mapping):
            yield at, schema_of_response("nlweb", version, value), value


def mcp_examples() -> list[Any]:
    return [
        pytest.param(version, path, id=f"{version}-{path.stem}")
        for version in ("0.54", "0.55")
        for path in sorted((EXAMPLES / f"mcp-{version}").glob("*.json"))
    ]


@pytest.mark.parametrize(("version", "path"), mcp_examples())
def test_every_attribute_of_an_example_over_mcp_is_explained(version: str, path: Path) -> None:
    value = read(path)
    if path.stem.startswith("tool-"):
        assert unexplained("mcp", "1", "tool", value) == []
        return
    assert mcp_unexplained(value, version) == []
    for part in value.get("result", {}).get("content", []):
        if part["text"].startswith("{"):
            inner = json.loads(part["text"])
            schema = schema_of_response("nlweb", version, inner)
            assert unexplained("nlweb", version, schema, inner) == []


def test_no_example_over_mcp_is_missing() -> None:
    assert len(mcp_examples()) == 28


# --- captures


def captures() -> list[Any]:
    return [
        pytest.param(path, id=f"{path.parent.name}-{path.stem}")
        for path in sorted(CAPTURES.glob("*/*.txt"))
    ]


def capture(path: Path) -> tuple[bytes, bytes]:
    """Return the head and the body of a capture; requests were written with bare line feeds."""
    data = path.read_bytes()
    if b"\r\n\r\n" not in data:
        head, _, body = data.partition(b"\n\n")
        return head.replace(b"\n", b"\r\n"), body
    head, _, body = data.partition(b"\r\n\r\n")
    return head, body


def payloads(body: bytes) -> list[Any]:
    """Return the JSON values in a body: of a document, or of the events of a stream."""
    body = body.strip()
    if body.startswith((b"{", b"[")):
        return [json.loads(body)]
    return [value for _, value in events(body + b"\n\n")]


@pytest.mark.parametrize("path", captures())
def test_every_header_and_status_of_a_capture_is_explained(path: Path) -> None:
    head, _ = capture(path)
    is_request = path.stem.endswith(".req")
    status, headers = read_head(head)
    schema = "request-headers" if is_request else "response-headers"
    assert headers
    for name in headers:
        assert_listed("http", "1", schema, pointer_of([name]))
    if is_request:
        method = head.split(b" ", 1)[0].decode()
        found = explain("http", "1", "request-line", "/method")
        assert found
        assert method in found.values
    else:
        assert_listed("http", "1", "status", f"/{status}")


def assert_listed(protocol: str, version: str, schema: str, pointer: str) -> None:
    found = explain(protocol, version, schema, pointer)
    assert found, pointer
    assert found.is_listed, pointer


@pytest.mark.parametrize("path", captures())
def test_every_attribute_of_a_capture_is_explained(path: Path) -> None:
    folder, is_request = path.parent.name, path.stem.endswith(".req")
    try:
        values = payloads(capture(path)[1])
    except ValueError:
        pytest.skip("The body is no JSON.")
    for value in values:
        assert [p for p in explained_as(folder, value, is_request) if p not in INVALID] == []


#: A member of a captured request that is invalid on purpose.
INVALID = {"/foo"}


def explained_as(folder: str, value: Any, is_request: bool) -> list[str]:
    """Return the names without an explanation in a value of an agent of this kind."""
    match folder:
        case "mcp":
            return mcp_unexplained(value, "0.55")
        case "a2a":
            schema = "message" if "jsonrpc" in value else "card"
            return unexplained("a2a", "1", schema, value)
        case "agentscope":
            schema = "request" if is_request else schema_of_response("agent-api", "1", value)
            return unexplained("agent-api", "1", schema, value)
        case "nlweb":
            return unexplained("nlweb", "legacy", "response", value)
    if is_request:
        return unexplained("nlweb", "0.54", schema_of_request("nlweb", value), value)
    return unexplained("nlweb", "0.54", schema_of_response("nlweb", "0.54", value), value)


def test_the_headers_that_the_code_names_are_explained() -> None:
    """What the playground and its demo send: every literal that looks like a header's name."""
    known = {
        name
        for schema in ("request-headers", "response-headers")
        for name in schemas.load("http", "1", schema)["properties"]
    }
    root = Path(schemas.__file__).parents[2]
    named = {
        name.lower()
        for folder in ("protocols", "transport", "demo")
        for path in sorted((root / folder).rglob("*.py"))
        for name in HEADER.findall(path.read_text())
    }
    assert {"content-type", "mcp-session-id", "retry-after"} <= named
    assert named - known == NO_HEADERS


HEADER = re.compile(r'"([A-Z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+)"')
#: Literals of that form that are something else, and headers of scenarios that mean nothing.
NO_HEADERS = {"x-note", "x-count", "x-cart-source"}


def test_every_parameter_of_the_agent_api_is_explained() -> None:
    for name in PARAMETERS:
        assert_listed("agent-api", "1", "request", f"/{name}")


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


# --- the demo, and what cards show


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
    source = Path(card_types.__file__).read_text("utf-8")
    shown = set(re.findall(r'\.get\("([@\w]+)"', source)) | card_types.PLACED
    properties = set(names_of(schemas.load("nlweb", "0.55", "item")))
    assert "recipeIngredient" in shown
    assert shown - properties == {"type"}, "an alias of @type"


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
