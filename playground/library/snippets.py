"""A call as code to be run elsewhere: curl, Python with httpx, JavaScript's fetch, JSON-RPC.

Each sends the same request, reads a stream as a stream, and takes secrets from environment
variables: no value of one is ever in it. Pure: a sketch in, text out.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from playground.library.literals import (
    JAVASCRIPT,
    PYTHON,
    SourceLanguage,
    is_safe_in_javascript,
    is_sendable_in_python,
)
from playground.library.sketches import SecretPlaceholder, SnippetCall, Text, split_secrets
from playground.protocols.mcp.messages import (
    STATELESS_VERSION,
    VERSION_HEADER,
    call_tool,
    stateless_meta,
)

#: Characters that a POSIX shell leaves alone.
_BARE = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
#: What a single-quoted text cannot show, or would show badly.
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
#: What double quotes do not protect, or an interactive shell would expand in them.
_LIVE = re.compile(r"[\x00-\x1f\x7f\"$`\\!]")
#: Signs that curl reads patterns of addresses from.
_GLOB = re.compile(r"[\[\]{}]")


def to_curl(sketch: SnippetCall) -> str:
    """The call as a command for a POSIX shell with the $'…' of bash."""
    words = ["curl"]
    if sketch.streaming:
        words.append("-N")
    if _GLOB.search("".join(part for part in sketch.url if isinstance(part, str))):
        words.append("-g")
    if sketch.method != ("POST" if sketch.body else "GET"):
        words.append(f"-X {_word((sketch.method,))}")
    parts = [" ".join([*words, _word(sketch.url)])]
    parts += [f"-H {_word(_field(name, value))}" for name, value in sketch.headers]
    piped = ""
    if sketch.body and b"\0" in sketch.body:
        # No argument of a command can hold that byte.
        octets = "".join(f"\\{byte:03o}" for byte in sketch.body)
        piped = f"printf '{octets}' | "
        parts.append("--data-binary @-")
    elif sketch.body:
        parts.append(f"--data-raw {_data(sketch)}")
    return piped + " \\\n  ".join(parts) + "\n"


def _field(name: str, value: Text) -> Text:
    # A name with a semicolon is how curl sends a header without a value.
    return (f"{name}: ", *value) if value else (f"{name};",)


def _data(sketch: SnippetCall) -> str:
    if sketch.text is None:
        return _ansi(sketch.body)
    return _word(split_secrets(sketch.text))


def _word(text: Text) -> str:
    """A word of a shell: whatever is in it, it stays one, and only variables are looked up."""
    joined = "".join(part for part in text if isinstance(part, str))
    if all(isinstance(part, str) for part in text):
        return _quoted(joined)
    if not _LIVE.search(joined):
        return '"' + "".join(map(_in_double_quotes, text, (*text[1:], ""))) + '"'
    parts = [
        f'"${part.variable}"' if isinstance(part, SecretPlaceholder) else _quoted(part)
        for part in text
    ]
    return "".join(parts)


def _in_double_quotes(part: str | SecretPlaceholder, following: str | SecretPlaceholder) -> str:
    if isinstance(part, str):
        return part
    # With braces where the name would go on in what follows.
    goes_on = isinstance(following, str) and re.match(r"\w", following, re.ASCII)
    return f"${{{part.variable}}}" if goes_on else f"${part.variable}"


def _quoted(text: str) -> str:
    if _BARE.fullmatch(text):
        return text
    if _ODD.search(text):
        return _ansi(text.encode())
    return "'" + text.replace("'", "'\\''") + "'"


def _ansi(data: bytes) -> str:
    """Any bytes but zero in the quotes of bash."""
    shown = "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b"'\\" else f"\\x{byte:02x}"
        for byte in data
    )
    return f"$'{shown}'"


def to_httpx(sketch: SnippetCall) -> str:
    """The call as a Python program with httpx, and httpx-sse where a stream may come."""
    content, argument = _python_body(sketch)
    imports = ["import httpx"]
    if sketch.streaming:
        imports.append("from httpx_sse import EventSource")
    lines = ["import os\n", *imports] if sketch.variables else imports
    lines += ["", f"url = {PYTHON.text(sketch.url)}", f"headers = {_pairs(sketch, PYTHON)}"]
    if content:
        lines.append(content)
    # A call that was read from a file says anything for its method.
    arguments = f"{PYTHON.string(sketch.method)}, url, headers=headers{argument}"
    lines += ["", (_PYTHON_STREAM if sketch.streaming else _PYTHON_WHOLE).format(arguments)]
    return "\n".join(lines)


_PYTHON_WHOLE = """\
response = httpx.request({}, timeout=60)
print(response.status_code, response.reason_phrase)
print(response.text)
"""
_PYTHON_STREAM = """\
with (
    httpx.Client(timeout=60) as client,
    client.stream({}) as response,
):
    if response.headers.get("Content-Type", "").startswith("text/event-stream"):
        for event in EventSource(response).iter_sse():
            print(event.event, event.data)
    else:
        response.read()
        print(response.status_code, response.reason_phrase)
        print(response.text)
"""


def _python_body(sketch: SnippetCall) -> tuple[str, str]:
    """The line that makes the body, and the argument that sends it; "" for none."""
    if not sketch.body:
        return "", ""
    value = sketch.value
    if value is not None and is_sendable_in_python(value):
        return f"body = {PYTHON.value(value)}", ", json=body"
    if sketch.text is None:
        return f"body = {sketch.body!r}", ", content=body"
    return f"body = {PYTHON.text(split_secrets(sketch.text))}", ", content=body"


def to_fetch(sketch: SnippetCall) -> str:
    """The call as a JavaScript module, for Node and, but for the variables, for browsers."""
    method = JAVASCRIPT.string(sketch.method)
    lines = [f"  method: {method},", f"  headers: {_pairs(sketch, JAVASCRIPT, 1)},"]
    if sketch.body:
        lines.append(f"  body: {_javascript_body(sketch)},")
    options = "\n".join(lines)
    head = f"const response = await fetch({JAVASCRIPT.text(sketch.url)}, {{\n{options}\n}});\n"
    return head + (_FETCH_STREAM if sketch.streaming else _FETCH_WHOLE)


_FETCH_WHOLE = """\

console.log(response.status, response.statusText);
console.log(await response.text());
"""
_FETCH_STREAM = """\

if (response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const blocks = (rest + part.value).split(/\\r?\\n\\r?\\n/);
    rest = blocks.pop();
    blocks.forEach(show);
  }
} else {
  console.log(response.status, response.statusText);
  console.log(await response.text());
}

function show(block) {
  const lines = block.split(/\\r?\\n/);
  const field = (name) =>
    lines
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ""))
      .join("\\n");
  if (field("data")) console.log(field("event") || "message", field("data"));
}
"""


def _javascript_body(sketch: SnippetCall) -> str:
    value = sketch.value
    if value is not None and is_safe_in_javascript(value):
        return f"JSON.stringify({JAVASCRIPT.value(value, 1)})"
    if sketch.text is None:
        encoded = base64.b64encode(sketch.body).decode()
        return f'Uint8Array.from(atob("{encoded}"), (sign) => sign.charCodeAt(0))'
    return JAVASCRIPT.text(split_secrets(sketch.text))


def _pairs(sketch: SnippetCall, dialect: SourceLanguage, depth: int = 0) -> str:
    """The headers: an object, or a list of pairs where a name stands there twice."""
    names = [name.lower() for name, _ in sketch.headers]
    opening, closing, row = "{", "}", "{}: {}"
    if len(set(names)) < len(names):
        opening, closing = "[", "]"
        row = "({}, {})" if dialect is PYTHON else "[{}, {}]"
    inner, outer = dialect.indent * (depth + 1), dialect.indent * depth
    rows = [
        f"{inner}{row.format(dialect.string(name), dialect.text(value))},\n"
        for name, value in sketch.headers
    ]
    return f"{opening}\n{''.join(rows)}{outer}{closing}" if rows else opening + closing


def to_jsonrpc(tool: str, arguments: Any) -> str:
    """The call of a tool over MCP (NLWeb 0.55, appendix A.3), standing by itself.

    It says in `_meta` what a session would have said before it (MCP 2026-07-28). A secret in
    the arguments is `{{NAME}}`: JSON has no variables.
    """
    message = json.dumps(
        call_tool(1, tool, arguments, meta=stateless_meta()), ensure_ascii=False, indent=2
    )
    return (
        with_placeholders(split_secrets(message)).encode("utf-8", "backslashreplace").decode()
        + "\n"
    )


#: What a server wants to know beside the message.
JSONRPC_NOTE = (
    f"Post it to the server's address with the headers {VERSION_HEADER}: {STATELESS_VERSION}, "
    "Mcp-Method: tools/call and Mcp-Name: the tool. In a session of an older server, leave out "
    "_meta."
)


def with_placeholders(text: Text) -> str:
    """A text with `{{NAME}}` where a secret goes, for what has no variables of its own."""
    return "".join(
        f"{{{{{part.variable}}}}}" if isinstance(part, SecretPlaceholder) else part for part in text
    )


#: Ways to say a call as code: what each is called, and what writes it.
WRITERS: Mapping[str, tuple[str, Callable[[SnippetCall], str]]] = {
    "curl": ("cURL", to_curl),
    "httpx": ("Python httpx", to_httpx),
    "fetch": ("JavaScript fetch", to_fetch),
}
