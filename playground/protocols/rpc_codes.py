"""The error codes of JSON-RPC in plain words: the standard's own, MCP's and A2A's."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from playground.protocols.explanations import Explanation

_SERVER_ERROR = Explanation(
    "A code from the range that JSON-RPC leaves to the server, which alone knows what it means.",
    "Read the message and the data beside it, or look the code up where the server documents it.",
)

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
#: MCP 2026-07-28: the server speaks other versions, which `data.supported` lists.
UNSUPPORTED_PROTOCOL_VERSION = -32022
#: MCP 2025-11-25: somebody has to visit an address first; `data.elicitations` lists them.
URL_ELICITATION_REQUIRED = -32042

EXPLAINED: Mapping[int, Explanation] = MappingProxyType(
    {
        PARSE_ERROR: Explanation(
            "The server could not read the message as JSON.",
            "Look at the bytes that were sent on the Wire tab, and at what lies between the two.",
        ),
        INVALID_REQUEST: Explanation(
            "The server read JSON, but not a request that it accepts at this point.",
            "Check the session and the protocol version, which servers report this way as well.",
        ),
        METHOD_NOT_FOUND: Explanation(
            "The server does not offer this method.",
            "Check that the address is that of a server of this protocol and version.",
        ),
        INVALID_PARAMS: Explanation(
            "The method or the tool does not take what it was called with.",
            "Compare the arguments with the tool's schema, and the tool's name with the list.",
        ),
        INTERNAL_ERROR: Explanation(
            "Something went wrong within the server.",
            "Send it again, and look into the server's log if it happens again.",
        ),
        -32001: Explanation(
            "MCP servers use this code for a time that ran out or a session that they do not know,"
            " A2A agents for a task that they do not know.",
            "Send it again; if it is about a session or a task, begin a new one.",
        ),
        -32002: Explanation(
            "An MCP server does not have the resource; an A2A task can no longer be cancelled.",
            "Check the name or the id that the message speaks of.",
        ),
        -32003: Explanation(
            "An A2A agent does not support push notifications.",
            "Leave the push settings out; the playground follows tasks by itself.",
        ),
        -32004: Explanation(
            "An A2A agent does not support this operation.",
            "Look at the capabilities in the agent's card.",
        ),
        -32005: Explanation(
            "An A2A agent does not take or give this kind of content.",
            "Compare the parts of the message with the input modes in the agent's card.",
        ),
        -32009: Explanation(
            "An A2A agent does not speak the version that was asked for.",
            "Speak a version that the agent's card lists.",
        ),
        -32020: Explanation(
            "Headers of the request say something else than its body (MCP 2026-07-28).",
            "Leave MCP-Protocol-Version, Mcp-Method and Mcp-Name out of the agent's own headers.",
        ),
        -32021: Explanation(
            "The server needs something of its client that the playground did not offer.",
            "The data beside the message name it; this tool cannot be called from here.",
        ),
        UNSUPPORTED_PROTOCOL_VERSION: Explanation(
            "The server speaks other versions of MCP than the one that was asked for.",
            "The data beside the message list those that it speaks.",
        ),
        URL_ELICITATION_REQUIRED: Explanation(
            "The server wants somebody to visit an address before it answers.",
            "Open the address if you trust it, do what it asks for, and send the request again.",
        ),
        -32800: Explanation(
            "The request was cancelled before it was done.",
            "Send it again.",
        ),
    }
)

#: What the playground calls failures over MCP that have no code of their own.
NAMED: Mapping[str, Explanation] = MappingProxyType(
    {
        "TOOL_ERROR": Explanation(
            "The tool was called, and failed while it worked.",
            "Read what it says; if it is about the arguments, compare them with its schema.",
        ),
        "INPUT_REQUIRED": Explanation(
            "The server cannot go on without something that only a program could give it.",
            "Call it from a client that offers it, a model for instance, or call another tool.",
        ),
    }
)


def explain_code(code: int) -> Explanation | None:
    """What an error code means: those of the standard, of MCP and of A2A; None for others."""
    if found := EXPLAINED.get(code):
        return found
    return _SERVER_ERROR if -32099 <= code <= -32000 else None


def code_of(text: str) -> int | None:
    """The code that a failure's text is, None for what is no number of JSON-RPC's size."""
    digits = text.strip().removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        return None
    return -int(digits) if text.strip().startswith("-") else int(digits)
