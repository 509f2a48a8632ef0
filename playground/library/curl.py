"""A curl command as a request of the playground. Nothing is run, no file is read, nothing is sent.

What the command says of the request is taken, what it says of curl is passed over with a remark,
and what would read or write a file or do more than send one request is refused by its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from playground.library.curl_command import CurlCommand
from playground.library.recognising import (
    FORM,
    ImportedRequest,
    UnsupportedRequestError,
    auth_of,
    custom_headers,
    from_http_request,
)
from playground.library.shell import ShellError, split_command
from playground.protocols.headers import is_credential
from playground.variables import names_in
from playground.variables.names import PLACEHOLDER

_MOST_REMARKS = 20


@dataclass(slots=True)
class CurlRequest:
    """What became of a command. With `refusals`, nothing else of it counts."""

    address: str = ""
    protocol: str = "nlweb"
    binding: str = "http"
    version: str = ""
    document: dict[str, Any] = field(default_factory=dict)
    #: As they were typed: literal credentials among them are for one send and never kept.
    headers: list[tuple[str, str]] = field(default_factory=list)
    #: As `SavedRequest.auth`, where a `{{name}}` stands for the secret.
    auth: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """For the composer."""
        return {
            "address": self.address,
            "protocol": self.protocol,
            "binding": self.binding,
            "version": self.version,
            "document": self.document,
            "headers": [list(pair) for pair in self.headers],
            "auth": self.auth,
            "remarks": self.remarks,
            "refusals": self.errors,
        }


def is_curl(text: str) -> bool:
    """Whether a text begins like a curl command."""
    words = text.lstrip().removeprefix("$ ").split(None, 1)
    return len(words) == 2 and words[0].lower() in ("curl", "curl.exe")


def read_curl(text: str) -> CurlRequest:
    """The request of a curl command, or why there is none. Never raises."""
    if not is_curl(text):
        return CurlRequest(errors=["This does not begin with “curl”."])
    try:
        words = split_command(text.lstrip().removeprefix("$ "))
    except ShellError as error:
        return CurlRequest(errors=[str(error)])
    command = CurlCommand()
    command.read(words[1:])
    if command.refusals:
        return CurlRequest(errors=list(dict.fromkeys(command.refusals))[:_MOST_REMARKS])
    try:
        return _composed(command)
    except UnsupportedRequestError as error:
        return CurlRequest(errors=[str(error)])


def _composed(command: CurlCommand) -> CurlRequest:
    url = _with_scheme(command.address)
    body = command.body
    if command.get and body is not None:
        url, body = _with_query(url, body), None
    for more in command.queries:
        url = _with_query(url, more)
    method = command.method or ("GET" if body is None else "POST")
    found: ImportedRequest = from_http_request(
        method.upper(), url, [*command.headers, *_typed(body)], body
    )
    auth, kept = auth_of(command.headers)
    if not auth:
        auth = command.auth
    headers, left_out = custom_headers(kept)
    remarks = [*found.remarks, *command.remarks(), *_about(headers, left_out)]
    return CurlRequest(
        found.address,
        found.protocol,
        found.binding,
        found.version,
        found.document,
        headers,
        auth,
        remarks[:_MOST_REMARKS],
    )


def _typed(body: str | None) -> list[tuple[str, str]]:
    """The type that curl gives a body where no header does, if it looks like one of that type."""
    is_form = body is not None and "=" in body and body.lstrip()[:1] not in ("{", "[")
    return [("Content-Type", FORM)] if is_form else []


def _about(headers: list[tuple[str, str]], left_out: list[str]) -> Iterator[str]:
    """What the reader has to know about the headers."""
    if left_out:
        names = ", ".join(dict.fromkeys(left_out))
        yield f"Left out, because an agent has no use for them or they are set anew: {names[:300]}."
    for name, value in headers:
        if is_credential(name) and value and not names_in(value):
            yield (
                f"{name} carries a credential. It goes with this send and is never stored: to "
                "keep it with the request, make it a secret of an environment, such as “token”."
            )


def _with_scheme(url: str) -> str:
    # curl takes an address without a scheme to be http.
    return url if "://" in url or PLACEHOLDER.match(url) else f"http://{url}"


def _with_query(url: str, query: str) -> str:
    return url + ("&" if "?" in url else "?") + query if query else url
