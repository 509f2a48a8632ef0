"""Code snippets of a call: cURL, Python with httpx, JavaScript's fetch, and JSON-RPC.

Each snippet sends the same request, reads a stream as a stream, and takes secrets from environment
variables: it never contains the value of one. Secrets of a stored call are masked by the transport
already; those of a call that is about to be made are placeholders, or removed here; and so is every
header that is a credential by its name. Pure: a call in, text out.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from playground.protocols import json_decoder
from playground.protocols.calls import HttpCall
from playground.protocols.headers import is_credential
from playground.protocols.http import encode
from playground.protocols.mcp.messages import VERSION_HEADER, call_tool, stateless_meta
from playground.protocols.mcp.versions import STATELESS_VERSION
from playground.transport.redaction import MASK, Redactor
from playground.variables.names import PLACEHOLDER

#: Characters that need no quotes in a POSIX shell.
_BARE = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")

#: Control characters, which single quotes would show badly.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

#: Characters that are special in double quotes, or that an interactive shell expands there.
_SPECIAL = re.compile(r"[\x00-\x1f\x7f\"$`\\!]")

#: Characters of curl's URL globbing.
_GLOB = re.compile(r"[\[\]{}]")

#: Variable for a secret without a name.
_UNNAMED = "SECRET"

#: Schemes before the credential itself.
_SCHEME = re.compile(r"(Bearer|Basic|Digest|Token|ApiKey|Key|DPoP|JWT)\s+", re.IGNORECASE)

#: Private-use characters around the name of a variable after a mask, which no text has by chance.
_OPEN, _CLOSE = "\U000f0000", "\U000f0001"
_SECRET = re.compile(rf"{MASK}(?:{_OPEN}(\w+){_CLOSE})?")
_NON_WORD = re.compile(r"\W+", re.ASCII)

#: Headers of this client, which another client sets itself.
_CLIENT_HEADERS = frozenset(
    {"user-agent", "host", "content-length", "connection", "accept-encoding"}
)

#: Largest integer that JavaScript keeps exact.
_MAX_SAFE_INTEGER = 2**53 - 1

#: Limit on the characters of a JSON value on one line.
_MAX_LINE = 60
#: A string of JSON with the colon after it, or a word.
_JSON_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*+")(?=(:?))|true|false|null')
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SecretPlaceholder:
    """The place of a secret, with the name of its environment variable."""

    variable: str


#: A text in parts, with secrets between them.
Text = tuple[str | SecretPlaceholder, ...]


@dataclass(frozen=True, slots=True)
class SnippetCall:
    """A call without secrets."""

    method: str
    url: Text
    headers: tuple[tuple[str, Text], ...]
    #: With masked secrets.
    body: bytes
    #: Whether the request asks for a stream.
    streaming: bool = False

    @property
    def variables(self) -> list[str]:
        """Return the names of all variables, in the order of the call."""
        headers = (text for _, text in self.headers)
        texts = [self.url, *headers, split_secrets(self.text or "")]
        found = (each for text in texts for each in text if isinstance(each, SecretPlaceholder))
        return list(dict.fromkeys(secret.variable for secret in found))

    @property
    def text(self) -> str | None:
        """Return the body as text, None if it is not UTF-8."""
        return _decode(self.body)

    @property
    def value(self) -> Any:
        """Return the body as a JSON value that encodes to the same bytes; None if it is none."""
        text = self.text
        if not text or json_decoder.exceeds_depth(text, 100):
            return None
        try:
            value = json.loads(text)
            return value if encode(value) == self.body else None
        except (ValueError, RecursionError):
            return None


def snippet_call(
    call: HttpCall, secrets: Sequence[str] = (), names: Sequence[str] = ()
) -> SnippetCall:
    """Return a call that is about to be made.

    It has no values of `secrets`, and variables for the placeholders of the secrets called `names`.
    """
    redactor = Redactor(secrets)

    def redacted(text: str) -> str:
        return _mark_placeholders(redactor.data(text.encode("utf-8", "replace")).decode(), names)

    def header(name: str, value: str) -> str:
        # A secret may be the whole value, without the scheme before it.
        scheme = _SCHEME.match(value) if is_credential(name) else None
        start = scheme[0] if scheme else ""
        # Here even short ones are masked, as nothing else can be masked by mistake.
        return start + redacted(_mask_secrets(value.removeprefix(start), secrets))

    headers = tuple((name, header(name, value)) for name, value in call.headers)
    body = redactor.data(call.body)
    if (text := _decode(body)) is not None:
        body = _mark_placeholders(text, names).encode()
    return _build_call(replace(call, url=redacted(call.url), headers=headers, body=body))


def snippet_body(document: Any, secrets: Sequence[str], names: Sequence[str]) -> Any:
    """Return a JSON document with secrets masked, like the body of a snippet's call."""
    redacted = Redactor(secrets).data(encode(document)).decode()
    return json.loads(_mark_placeholders(redacted, names))


def snippet_call_from_frame(data: bytes, url: str) -> SnippetCall:
    """Return a call that was made, from the data of its CALL frame and the run's `url`."""
    return _build_call(stored_call(data, url))


def stored_call(data: bytes, url: str) -> HttpCall:
    """Return the call in the data of a CALL frame.

    A frame has the path alone: the host is that of its headers, or else that of the run's `url`,
    which also has the scheme.
    """
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("utf-8", "replace").split("\r\n")
    method, _, rest = first.partition(" ")
    pairs = (line.partition(":") for line in lines if line)
    headers = tuple((name, value.strip()) for name, _, value in pairs)
    known = {name.lower(): value for name, value in reversed(headers)}
    target = rest.rpartition(" ")[0] or "/"
    if "://" not in target:
        scheme, _, base = url.partition("://")
        target = f"{scheme}://{known.get('host') or base.partition('/')[0]}{target}"
    streaming = "text/event-stream" in known.get("accept", "")
    return HttpCall(method or "POST", target, headers, body, streaming)


def split_secrets(text: str, variable: str = _UNNAMED) -> Text:
    """Split a text at its secrets; `variable` is for those that have no name."""
    parts: list[str | SecretPlaceholder] = []
    for number, part in enumerate(_SECRET.split(text)):
        if number % 2:
            parts.append(SecretPlaceholder(part or variable))
        elif part:
            parts.append(part)
    return tuple(parts)


def _mark_placeholders(text: str, names: Sequence[str]) -> str:
    return PLACEHOLDER.sub(
        lambda found: (
            _marked(SecretPlaceholder(_variable(found[1]))) if found[1] in names else found[0]
        ),
        text,
    )


def _variable(name: str) -> str:
    """Return a name in the form of an environment variable's."""
    found = _NON_WORD.sub("_", name.upper()).strip("_")
    return found if found and not found[0].isdigit() else _UNNAMED


def _build_call(call: HttpCall) -> SnippetCall:
    headers = tuple(
        (name, _secret_header(name, value))
        for name, value in call.headers
        # A stored call may come from an imported file: curl reads a file for a name with "@".
        if name and name.lower() not in _CLIENT_HEADERS and not name.startswith("@")
    )
    url = split_secrets(call.url)
    return SnippetCall(call.method, url, headers, call.body, call.streaming)


def _secret_header(name: str, value: str) -> Text:
    if not is_credential(name):
        return split_secrets(value, _variable(name))
    scheme = _SCHEME.match(value)
    found = [
        part
        for part in split_secrets(value, _variable_of(name, scheme))
        if isinstance(part, SecretPlaceholder)
    ]
    is_login = scheme is not None and scheme[1].lower() == "basic"
    # The encoded value is neither the user nor the password.
    secret = SecretPlaceholder(_variable_of(name, scheme)) if is_login or not found else found[0]
    return (scheme[0], secret) if scheme else (secret,)


def _variable_of(header: str, scheme: re.Match[str] | None) -> str:
    """Return the variable of a header's secret, which in a stored call is the whole value."""
    if header.lower() == "authorization" and scheme:
        return "CREDENTIALS" if scheme[1].lower() == "basic" else "TOKEN"
    return _variable(header)


def _mask_secrets(text: str, secrets: Sequence[str]) -> str:
    for secret in filter(None, secrets):
        text = text.replace(secret, MASK)
    return text


def _decode(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


@dataclass(frozen=True, slots=True)
class SourceLanguage:
    """A programming language: where its literals differ from JSON."""

    #: Words for true, false and null, where they are others.
    words: Mapping[str, str]
    #: Format of the expression for an environment variable.
    variable: str
    #: Format of the name of a member that is an expression.
    computed_name: str
    indent: int

    def text(self, text: Text) -> str:
        parts = [
            self.variable.format(part.variable)
            if isinstance(part, SecretPlaceholder)
            else _string(part)
            for part in text
        ]
        return " + ".join(parts) or _string("")

    def value(self, value: Any, depth: int = 0) -> str:
        """Return a JSON value: a long one over several lines, nested by `depth` steps already."""
        text = json.dumps(value, ensure_ascii=False)
        if len(text) > _MAX_LINE:
            text = json.dumps(value, ensure_ascii=False, indent=self.indent)
        return _JSON_TOKEN.sub(self._token, text).replace("\n", "\n" + " " * self.indent * depth)

    def _token(self, found: re.Match[str]) -> str:
        string, colon = found.groups()
        if string is None:
            return self.words.get(found[0], found[0])
        text = split_secrets(json.loads(string))
        is_expression = any(isinstance(part, SecretPlaceholder) for part in text)
        return (self.computed_name if colon and is_expression else "{}").format(self.text(text))


def _string(text: str) -> str:
    """Return the literal of a text without secrets."""
    quoted = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f")
    # Both languages read \/ and \u the way JSON does; lone surrogates have to be escaped.
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", quoted)


PYTHON = SourceLanguage(
    {"true": "True", "false": "False", "null": "None"}, 'os.environ["{}"]', "{}", indent=4
)
JAVASCRIPT = SourceLanguage({}, "process.env.{}", "[{}]", indent=2)


def is_safe_in_javascript(value: Any) -> bool:
    """Return whether JavaScript encodes this JSON value unchanged.

    It rounds large numbers, writes 1.0 as 1, and sorts names that are integers.
    """
    return all(map(_is_safe, _walk(value)))


def is_sendable_in_python(value: Any) -> bool:
    """Return whether a Python client can send this JSON value: not one with lone surrogates."""
    return not any(isinstance(each, str) and _SURROGATE.search(each) for each in _walk(value))


def _is_safe(value: Any) -> bool:
    if isinstance(value, str):
        return not _SURROGATE.search(value)
    if isinstance(value, float):
        return False
    if isinstance(value, dict):
        return not any(name.isdecimal() or name == "__proto__" for name in value)
    return not isinstance(value, int) or -_MAX_SAFE_INTEGER <= value <= _MAX_SAFE_INTEGER


def _walk(value: Any) -> Iterator[Any]:
    remaining = [value]
    while remaining:
        each = remaining.pop()
        yield each
        if isinstance(each, dict):
            remaining += [*each, *each.values()]
        elif isinstance(each, list):
            remaining += each


def to_curl(call: SnippetCall) -> str:
    """Return the call as a command for a POSIX shell with the $'…' of bash."""
    words = ["curl"]
    if call.streaming:
        words.append("-N")
    if _GLOB.search("".join(part for part in call.url if isinstance(part, str))):
        words.append("-g")
    if call.method == "HEAD" and not call.body:
        words.append("-I")  # With -X HEAD, curl waits for a body.
    elif call.method != ("POST" if call.body else "GET"):
        words.append(f"-X {_shell_word((call.method,))}")
    # Not bare: a URL that begins with a hyphen, as that of a variable may, would be an option.
    parts = [" ".join([*words, "--url", _shell_word(call.url)])]
    for name, value in call.headers:
        # A name with a semicolon makes curl send a header without a value.
        header = (f"{name}: ", *value) if value else (f"{name};",)
        parts.append(f"-H {_shell_word(header)}")
    piped = ""
    if call.body and b"\0" in call.body:
        # No argument of a command can contain that byte.
        octets = "".join(f"\\{byte:03o}" for byte in call.body)
        piped = f"printf '{octets}' | "
        parts.append("--data-binary @-")
    elif call.body:
        data = _shell_word(split_secrets(call.text)) if call.text else _ansi_quoted(call.body)
        parts.append(f"--data-raw {data}")
    return piped + " \\\n  ".join(parts) + "\n"


def _shell_word(text: Text) -> str:
    """Return a word of a shell, quoted so that only variables are expanded."""
    joined = "".join(part for part in text if isinstance(part, str))
    if all(isinstance(part, str) for part in text):
        return _quoted(joined)
    if not _SPECIAL.search(joined):
        return '"' + "".join(map(_in_double_quotes, text, (*text[1:], ""))) + '"'
    parts = [
        f'"${part.variable}"' if isinstance(part, SecretPlaceholder) else _quoted(part)
        for part in text
    ]
    return "".join(parts)


def _in_double_quotes(part: str | SecretPlaceholder, following: str | SecretPlaceholder) -> str:
    if isinstance(part, str):
        return part
    # With braces if the name would continue in the following text.
    continues = isinstance(following, str) and re.match(r"\w", following, re.ASCII)
    return f"${{{part.variable}}}" if continues else f"${part.variable}"


def _quoted(text: str) -> str:
    if _BARE.fullmatch(text):
        return text
    if _CONTROL.search(text):
        return _ansi_quoted(text.encode())
    return "'" + text.replace("'", "'\\''") + "'"


def _ansi_quoted(data: bytes) -> str:
    """Return any bytes but zero in the ANSI-C quotes of bash."""
    shown = "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b"'\\" else f"\\x{byte:02x}"
        for byte in data
    )
    return f"$'{shown}'"


def to_httpx(call: SnippetCall) -> str:
    """Return the call as a Python program with httpx, and httpx-sse for a stream."""
    content, argument = _python_body(call)
    imports = ["import httpx"]
    if call.streaming:
        imports.append("from httpx_sse import EventSource")
    lines = ["import os\n", *imports] if call.variables else imports
    lines += ["", f"url = {PYTHON.text(call.url)}", f"headers = {PYTHON.value(_headers(call))}"]
    if content:
        lines.append(content)
    # A call that was imported from a file may have any method.
    arguments = f"{_string(call.method)}, url, headers=headers{argument}"
    lines += ["", (_PYTHON_STREAM if call.streaming else _PYTHON_WHOLE).format(arguments)]
    return "\n".join(lines)


def _python_body(call: SnippetCall) -> tuple[str, str]:
    """Return the line that makes the body, and the argument that sends it; "" if there is none."""
    if not call.body:
        return "", ""
    value = call.value
    if value is not None and is_sendable_in_python(value):
        return f"body = {PYTHON.value(value)}", ", json=body"
    if call.text is None:
        return f"body = {call.body!r}", ", content=body"
    return f"body = {PYTHON.text(split_secrets(call.text))}", ", content=body"


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


def to_fetch(call: SnippetCall) -> str:
    """Return the call as a JavaScript module, for Node and, except for variables, for browsers."""
    method = _string(call.method)
    lines = [f"  method: {method},", f"  headers: {JAVASCRIPT.value(_headers(call), 1)},"]
    if call.body:
        lines.append(f"  body: {_javascript_body(call)},")
    options = "\n".join(lines)
    head = f"const response = await fetch({JAVASCRIPT.text(call.url)}, {{\n{options}\n}});\n"
    return head + (_FETCH_STREAM if call.streaming else _FETCH_WHOLE)


def _javascript_body(call: SnippetCall) -> str:
    value = call.value
    if value is not None and is_safe_in_javascript(value):
        return f"JSON.stringify({JAVASCRIPT.value(value, 1)})"
    if call.text is None:
        encoded = base64.b64encode(call.body).decode()
        return f'Uint8Array.from(atob("{encoded}"), (sign) => sign.charCodeAt(0))'
    return JAVASCRIPT.text(split_secrets(call.text))


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


def _headers(call: SnippetCall) -> Any:
    """Return the headers as JSON: an object, or a list of pairs if a name occurs twice."""
    pairs = [(name, "".join(map(_marked, value))) for name, value in call.headers]
    names = {name.lower() for name, _ in pairs}
    return dict(pairs) if len(names) == len(pairs) else pairs


def _marked(part: str | SecretPlaceholder) -> str:
    return part if isinstance(part, str) else f"{MASK}{_OPEN}{part.variable}{_CLOSE}"


def to_jsonrpc(tool: str, arguments: Any) -> str:
    """Return the call of a tool over MCP (NLWeb 0.55, appendix A.3), complete by itself.

    Its `_meta` has what a session's handshake would have sent (MCP 2026-07-28). A secret in the
    arguments is `{{NAME}}`: JSON has no variables.
    """
    message = json.dumps(
        call_tool(1, tool, arguments, meta=stateless_meta()), ensure_ascii=False, indent=2
    )
    parts = (
        part if isinstance(part, str) else f"{{{{{part.variable}}}}}"
        for part in split_secrets(message)
    )
    return "".join(parts).encode("utf-8", "backslashreplace").decode() + "\n"


#: Headers that a server needs beside the message.
JSONRPC_NOTE = (
    f"POST it to the server’s URL with the headers {VERSION_HEADER}: {STATELESS_VERSION}, "
    "Mcp-Method: tools/call and Mcp-Name: the tool name. For a server with sessions, omit "
    "_meta."
)

#: Kinds of snippets: label and writer.
WRITERS: Mapping[str, tuple[str, Callable[[SnippetCall], str]]] = {
    "curl": ("cURL", to_curl),
    "httpx": ("Python httpx", to_httpx),
    "fetch": ("JavaScript fetch", to_fetch),
}
