"""HTTP/1.1 requests: the input of httpcore, and the bytes that it sends."""

from __future__ import annotations

import re
from dataclasses import dataclass

import httpcore

from playground.protocols.calls import HttpCall
from playground.protocols.headers import is_credential
from playground.protocols.origins import DEFAULT_PORTS
from playground.transport import errors
from playground.transport.errors import CallError
from playground.transport.http_library import URL
from playground.transport.redaction import MASK, Redactor

_USERINFO = re.compile(r"//[^/?#]*@")


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A call with its URL and headers as they are sent."""

    method: bytes
    url: httpcore.URL
    headers: list[tuple[bytes, bytes]]
    body: bytes
    #: Host and port as in the URL.
    host_and_port: str


def prepare(call: HttpCall) -> WireRequest:
    """Return the call, ready to send. Its URL must have passed `check_url`.

    Added unless the call has them: `Host`, at the front; `Accept-Encoding: identity`, so that
    the recorded bytes are readable; `Content-Length`, at the end. Raise `CallError` for a header
    that would change the framing or cannot be encoded.
    """
    url = URL(call.url)
    try:
        method = call.method.encode("ascii")
        own = [(name.encode("ascii"), _value(value)) for name, value in call.headers]
    except UnicodeEncodeError as error:
        raise CallError(errors.unsendable(error)) from error
    names = {name.lower() for name, _ in own}
    _check_framing(own, call.body)
    host = [header for header in own if header[0].lower() == b"host"]
    headers = host or [(b"Host", url.netloc)]
    headers += [header for header in own if header[0].lower() != b"host"]
    if b"accept-encoding" not in names:
        headers.append((b"Accept-Encoding", b"identity"))
    if b"content-length" not in names and (call.body or method in (b"POST", b"PUT", b"PATCH")):
        headers.append((b"Content-Length", b"%d" % len(call.body)))
    target = httpcore.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )
    peer = host_and_port(url.host, url.port or DEFAULT_PORTS[url.scheme])
    return WireRequest(method, target, headers, call.body, peer)


def host_and_port(host: str, port: int) -> str:
    """Return host and port as a URL writes them."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def request_bytes(request: WireRequest, redactor: Redactor) -> bytes:
    """Return the bytes of the request, without secrets and without their length."""
    hide = [name.decode().lower() for name, _ in request.headers if is_credential(name.decode())]
    body = redactor.data(request.body)
    if body != request.body:
        # If the body contains a mask, its length reveals that of the secret.
        hide.append("content-length")
    return b"".join(
        (
            b"%b %b HTTP/1.1\r\n" % (request.method, redactor.data(request.url.target)),
            *(b"%b: %b\r\n" % header for header in redactor.headers(request.headers, hide)),
            b"\r\n",
            body,
        )
    )


def unsendable_request_text(call: HttpCall, redactor: Redactor) -> bytes:
    """Return a printable form of a call that cannot be sent and so has no wire form."""
    url = _USERINFO.sub(f"//{MASK}@", call.url)
    lines = [f"{call.method} {url} HTTP/1.1"]
    for name, value in call.headers:
        lines.append(f"{name}: {MASK if is_credential(name) else value}")
    head = "\r\n".join(lines) + "\r\n\r\n"
    return redactor.data(head.encode("utf-8", "replace") + call.body)


def head_as_received(
    version: bytes,
    status: int,
    reason: bytes,
    headers: list[tuple[bytes, bytes]],
    redactor: Redactor,
) -> bytes:
    """Return the bytes of a response head, without secrets and values of cookies."""
    shown = redactor.headers(headers, ("set-cookie", "set-cookie2"))
    first = b"%b %d %b\r\n" % (version, status, redactor.data(reason))
    return first + b"".join(b"%b: %b\r\n" % header for header in shown) + b"\r\n"


def _check_framing(headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    """Raise `CallError` for a header that contradicts the framing of the body."""
    for name, value in headers:
        if name.lower() == b"transfer-encoding":
            raise CallError(errors.unsendable("Transfer-Encoding can’t be set manually."))
        if name.lower() == b"content-length" and value != b"%d" % len(body):
            raise CallError(
                errors.unsendable(f"Content-Length does not match the body of {len(body)} bytes.")
            )


def _value(value: str) -> bytes:
    return value.strip(" \t").encode("utf-8")
