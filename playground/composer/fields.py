"""The fields of the composer's form, by the section of the request document they stand in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from playground.protocols import schema_check, schemas
from playground.protocols.agent_api.requests import SESSION
from playground.reference.explanations import meaning

#: The value types of a parameter's field, by the JSON type.
_EDITORS = {"string": "text", "array": "list", "number": "number", "integer": "number"}
_SESSION = frozenset({*SESSION, "user_id"})
#: Members of an Agent API request that have editors of their own.
_SECTIONS = frozenset({"input", "stream", "tools"})


@dataclass(frozen=True, kw_only=True)
class MemberField:
    """A field of a member of the request document: see `composer/form.html#field`."""

    #: A JSON Pointer.
    pointer: str
    #: What the value may be: some of "text", "number", "boolean", "list" and "json".
    types: str = "text"
    hint: str = ""
    placeholder: str = ""
    #: The id of a `datalist`.
    suggestions: str = ""
    is_required: bool = False
    #: Whether it is shown without a value, too.
    is_shown: bool = False
    is_wide: bool = False

    @property
    def label(self) -> str:
        """Return the name of the member."""
        return self.pointer.rpartition("/")[2]


def form_fields() -> dict[str, Sequence[MemberField]]:
    """Return the fields of all protocols by section."""
    ask = "nlweb/ask-request"
    request: Mapping[str, Any] = schemas.load("agent-api", "1", "request")["properties"]
    members = {name: _of(name, member) for name, member in request.items()}
    parameters = [members[name] for name in members if name not in _SECTIONS | _SESSION]
    session = [members[name] for name in members if name in _SESSION]
    return {
        "await": _explained("nlweb/await-request", _AWAIT),
        "query": [_TEXT, *_explained(ask, _QUERY)],
        "context": _explained(ask, _CONTEXT),
        "prefer": _explained(ask, _PREFER),
        "meta": _explained(ask, _META),
        "stream": _explained("agent-api/request", _STREAM),
        "parameters": parameters,
        "session": session,
        "all_parameters": [*parameters, *session],
        "raw": _RAW,
    }


_AWAIT = (
    MemberField(pointer="/promise_token", placeholder="The token of the promise", is_required=True),
    MemberField(pointer="/action", suggestions="await-actions", is_required=True),
)
#: It explains itself by its placeholder.
_TEXT = MemberField(
    pointer="/query/text", placeholder="Ask in natural language", is_required=True, is_wide=True
)
_QUERY = (
    MemberField(pointer="/query/site"),
    MemberField(pointer="/query/itemType", suggestions="item-types"),
    MemberField(pointer="/query/location"),
    MemberField(pointer="/query/price", types="text number"),
)
_CONTEXT = (
    MemberField(pointer="/context/@type", suggestions="context-types"),
    MemberField(pointer="/context/@context", placeholder="https://"),
    MemberField(pointer="/context/prev", types="list"),
    MemberField(pointer="/context/text"),
    MemberField(pointer="/context/memory", types="text list"),
)
_PREFER = (
    MemberField(pointer="/prefer/streaming", types="boolean"),
    MemberField(pointer="/prefer/response_format", suggestions="response-formats"),
    MemberField(pointer="/prefer/mode", suggestions="modes"),
    MemberField(pointer="/prefer/accept-language", placeholder="en"),
    MemberField(pointer="/prefer/user-agent"),
)
_META = (
    MemberField(
        pointer="/meta/version",
        suggestions="versions",
        hint="Follows the version of the target.",
    ),
    MemberField(pointer="/meta/user", types="text json"),
    MemberField(pointer="/meta/session_context", types="json"),
    MemberField(pointer="/meta/remember", types="boolean"),
)
_STREAM = (MemberField(pointer="/stream", types="boolean"),)
_RAW = (
    MemberField(
        pointer="/raw/method", suggestions="raw-methods", placeholder="POST", is_shown=True
    ),
    MemberField(
        pointer="/raw/path", placeholder="The protocol’s path, such as /ask", is_shown=True
    ),
    MemberField(
        pointer="/raw/content_type",
        suggestions="raw-types",
        placeholder="application/json, if there is a body",
        is_shown=True,
    ),
    MemberField(pointer="/raw/body", placeholder="Any text", is_shown=True),
    MemberField(pointer="/raw/encoding", hint="base64 for a body of bytes."),
)


def _explained(schema: str, fields: Sequence[MemberField]) -> list[MemberField]:
    """Return fields with the meaning of their names in a schema, such as "nlweb/ask-request"."""
    protocol, _, name = schema.partition("/")
    return [
        replace(field, hint=field.hint or meaning(protocol, name, field.pointer))
        for field in fields
    ]


def _of(name: str, member: Mapping[str, Any]) -> MemberField:
    types = [editor for name, editor in _EDITORS.items() if name in member["type"]]
    hint = meaning("agent-api", "request", f"/{name}")
    if types != ["text"]:
        expected = schema_check.expected(member)
        hint += f" {expected[0].upper()}{expected[1:]}."
    return MemberField(pointer=f"/{name}", types=" ".join(types), hint=hint)
