"""A call as code can say it: its texts, with the name of a variable where a secret stood.

No value of a secret is in a sketch. Where one stood there is the mask of the transport already (a
stored call), its placeholder, or it is taken out here (a call that is about to be made); and what
a header carries by its name is taken out in any case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playground.protocols import json_decoder
from playground.protocols.calls import HttpCall
from playground.protocols.headers import is_credential
from playground.protocols.http import encode
from playground.transport.redaction import MASK, Redactor
from playground.variables.names import PLACEHOLDER

#: The variable for a secret that no header names.
_UNNAMED = "SECRET"
#: Words before the credential itself.
_SCHEME = re.compile(r"(Bearer|Basic|Digest|Token|ApiKey|Key|DPoP|JWT)\s+", re.IGNORECASE)
#: Around the name of a variable that stands behind a mask: signs that no text has by chance.
_OPEN, _CLOSE = "\U000f0000", "\U000f0001"
_CUT = re.compile(rf"{MASK}(?:{_OPEN}(\w+){_CLOSE})?")
_NO_NAME = re.compile(r"\W+", re.ASCII)
#: Headers that only this client means: whoever runs the code introduces himself.
_OWN = frozenset({"user-agent", "host", "content-length", "connection", "accept-encoding"})


@dataclass(frozen=True, slots=True)
class SecretPlaceholder:
    """A place where a secret goes: the name of the variable that holds it."""

    variable: str


#: A text in pieces, with secrets between them.
Text = tuple[str | SecretPlaceholder, ...]


@dataclass(frozen=True, slots=True)
class SnippetCall:
    """A call without secrets."""

    method: str
    url: Text
    headers: tuple[tuple[str, Text], ...]
    #: With the mask where a secret stood.
    body: bytes
    #: Whether a stream is hoped for.
    streaming: bool = False

    @property
    def variables(self) -> list[str]:
        """The names of all variables, in the order of the call."""
        texts = [
            self.url,
            *(text for _, text in self.headers),
            split_secrets(_text_of(self.body) or ""),
        ]
        found = (each for text in texts for each in text if isinstance(each, SecretPlaceholder))
        return list(dict.fromkeys(secret.variable for secret in found))

    @property
    def text(self) -> str | None:
        """The body as text, None where it is none."""
        return _text_of(self.body)

    @property
    def value(self) -> Any:
        """The body as a JSON value that is sent as the same bytes again; None where it is none."""
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
    """A call that is about to be made.

    It is without the values of `secrets`, and has variables for the placeholders of the secrets
    that are called `names`.
    """
    redactor = Redactor(secrets)

    def shown(text: str) -> str:
        return _named(redactor.data(text.encode("utf-8", "replace")).decode(), names)

    def header(name: str, value: str) -> str:
        # A secret may be all of the value: the word before it is none.
        scheme = _SCHEME.match(value) if is_credential(name) else None
        start = scheme[0] if scheme else ""
        # Here they go whatever their length, because they blot out nothing else.
        return start + shown(_without(value.removeprefix(start), secrets))

    headers = [(name, header(name, value)) for name, value in call.headers]
    body = redactor.data(call.body)
    if (text := _text_of(body)) is not None:
        body = _named(text, names).encode()
    return _sketch(call.method, shown(call.url), headers, body, call.streaming)


def snippet_body(document: Any, secrets: Sequence[str], names: Sequence[str]) -> Any:
    """A JSON document with marks where secrets stood, as the body of a sketch has them."""
    shown = Redactor(secrets).data(encode(document)).decode()
    return json.loads(_named(shown, names))


def snippet_call_from_frame(data: bytes, url: str) -> SnippetCall:
    """A call that was made, from the data of its CALL frame; `url` is that of the run.

    A frame has the path alone; scheme and host are those of the run's address.
    """
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("utf-8", "replace").split("\r\n")
    method, _, rest = first.partition(" ")
    headers = [(name, value.strip()) for name, _, value in (x.partition(":") for x in lines)]
    known = {name.lower(): value for name, value in headers}
    streaming = "text/event-stream" in known.get("accept", "")
    address = full_url(rest.rpartition(" ")[0] or "/", lines, url)
    return _sketch(method or "POST", address, headers, body, streaming)


def full_url(target: str, lines: Sequence[str], url: str) -> str:
    """The whole address of a call: the target of its first line at the host of its headers.

    `url` is that of its run, for the scheme, and where the headers name no host.
    """
    if "://" in target:
        return target
    scheme, _, rest = url.partition("://")
    named = (line.partition(":") for line in lines)
    host = next((value.strip() for name, _, value in named if name.lower() == "host"), "")
    return f"{scheme}://{host or rest.partition('/')[0]}{target}"


def split_secrets(text: str, variable: str = _UNNAMED) -> Text:
    """A text cut where secrets stood; `variable` is for those that have no name."""
    parts: list[str | SecretPlaceholder] = []
    for number, piece in enumerate(_CUT.split(text)):
        if number % 2:
            parts.append(SecretPlaceholder(piece or variable))
        elif piece:
            parts.append(piece)
    return tuple(parts)


def _named(text: str, names: Sequence[str]) -> str:
    """A text in which the placeholders of these names are marked as variables."""
    return PLACEHOLDER.sub(
        lambda found: (
            f"{MASK}{_OPEN}{_variable(found[1])}{_CLOSE}" if found[1] in names else found[0]
        ),
        text,
    )


def _variable(name: str) -> str:
    """A name as environment variables are called."""
    found = _NO_NAME.sub("_", name.upper()).strip("_")
    return found if found and not found[0].isdigit() else _UNNAMED


def _sketch(
    method: str, url: str, headers: Sequence[tuple[str, str]], body: bytes, streaming: bool
) -> SnippetCall:
    kept = [(name, value) for name, value in headers if name and name.lower() not in _OWN]
    # A stored call may come from a file of others: curl reads a file where a name begins like this.
    kept = [(name, value) for name, value in kept if not name.startswith("@")]
    return SnippetCall(
        method,
        split_secrets(url),
        tuple((name, _header(name, value)) for name, value in kept),
        body,
        streaming,
    )


def _header(name: str, value: str) -> Text:
    if not is_credential(name):
        return split_secrets(value, _variable(name))
    scheme = _SCHEME.match(value)
    found = [
        part
        for part in split_secrets(value, _variable_of(name, scheme))
        if isinstance(part, SecretPlaceholder)
    ]
    is_login = scheme is not None and scheme[1].lower() == "basic"
    # Of a user and a password, what is sent is neither.
    secret = SecretPlaceholder(_variable_of(name, scheme)) if is_login or not found else found[0]
    return (scheme[0], secret) if scheme else (secret,)


def _variable_of(header: str, scheme: re.Match[str] | None) -> str:
    """What the secret of a header is called; of a stored call it is all of the header's value."""
    if header.lower() == "authorization" and scheme:
        return "CREDENTIALS" if scheme[1].lower() == "basic" else "TOKEN"
    return _variable(header)


def _without(text: str, secrets: Sequence[str]) -> str:
    for secret in filter(None, secrets):
        text = text.replace(secret, MASK)
    return text


def _text_of(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None
