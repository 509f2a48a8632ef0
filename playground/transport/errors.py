"""Failures of a call as problems: what happened and how to fix it.

The one place where exceptions of the transport become a `Problem`. Causes name what the user
entered (host, port), never the address that a name resolved to.
"""

from __future__ import annotations

import errno
import os
import socket
import ssl
from collections.abc import Iterator

import httpcore

from playground.base.limits import RunLimits
from playground.protocols.problems import USE_HTTP, USE_HTTPS, Problem, Stage
from playground.transport.policy import NetworkRule


class CallError(Exception):
    """The end of a call, for the reason in `problem`."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.cause)
        self.problem = problem


# --- before the request is sent ---------------------------------------------------------------


def refused(sentence: str, fix: str) -> Problem:
    """Return the problem for a call that the playground does not make."""
    return Problem("refused", Stage.POLICY, sentence, fix)


def denied_by_policy(host: str, rule: NetworkRule) -> Problem:
    if rule.always:
        fix = "Such addresses are always denied. Use the address of the agent."
    else:
        fix = (
            "This hosted playground connects to public addresses only; its operator can allow the "
            "host with PLAYGROUND_OUTBOUND_ALLOW."
        )
    cause = f"The outbound policy denies {host} (rule: {rule.name}). {rule.message}"
    return Problem("refused", Stage.POLICY, cause, fix)


def unresolved(host: str, error: Exception) -> Problem:
    if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
        cause = f"The name {host} could not be resolved: the name server did not respond."
        fix = "Check the spelling of the host and the network, then retry."
    else:
        cause = f"The name {host} could not be resolved."
        fix = "Check the spelling of the host; a new name may not have propagated yet."
    return Problem("failed", Stage.RESOLVE, cause, fix, _words(error))


def unreachable(peer: str, error: BaseException) -> Problem:
    """Return the problem for a host none of whose addresses is reachable."""
    code = _errno(error)
    if code == errno.ECONNREFUSED:
        cause = f"Nothing listens on {peer}: the connection was refused."
        fix = "Start the agent, or correct the port in the URL."
    elif code in (errno.ENETUNREACH, errno.EHOSTUNREACH):
        cause = f"{peer} cannot be reached from here."
        fix = "Check the network, VPN and firewall, and the host in the URL."
    else:
        cause = f"Could not connect to {peer}."
        fix = "Check that the agent is running and that its URL is correct."
    return Problem("failed", Stage.CONNECT, cause, fix, os.strerror(code) if code else "")


#: OpenSSL's verify codes (x509_vfy.h) as text: what is wrong, what to do.
_CERTIFICATES: dict[int, tuple[str, str]] = {
    9: ("is not valid yet", "Check the clocks of both machines, or renew the certificate."),
    10: ("has expired", "Renew the agent’s certificate."),
    18: (
        "is self-signed",
        "Use http:// for a local agent, or trust the certificate on this machine.",
    ),
    19: (
        "was issued by an authority that this machine does not trust",
        "Trust the authority’s certificate on this machine.",
    ),
    20: (
        "was issued by an authority that this machine does not know",
        "Trust the authority’s certificate, or configure the agent to send its intermediate "
        "certificates.",
    ),
    62: ("is for a different host name", "Use a host name that the certificate covers."),
    64: ("is for a different address", "Use a host name that the certificate covers."),
}
_CERTIFICATES[21] = _CERTIFICATES[20]
_NOT_TLS = {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"}


def tls(host: str, error: BaseException) -> Problem:
    cause, fix = f"The TLS handshake with {host} failed.", "Check the agent’s TLS configuration."
    found = next((link for link in _chain(error) if isinstance(link, ssl.SSLError)), None)
    if isinstance(found, ssl.SSLCertVerificationError):
        words = _CERTIFICATES.get(found.verify_code)
        what, fix = words or ("cannot be trusted", "Check the agent’s certificate.")
        cause = f"The certificate of {host} {what}."
    elif found is not None and found.reason in _NOT_TLS:
        cause = f"{host} does not speak TLS on this port."
        fix = USE_HTTP
    elif found is None or isinstance(found, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):
        cause = f"{host} closed the connection during the TLS handshake."
        fix = "Check that the agent serves HTTPS on this port."
    return Problem("failed", Stage.TLS, cause, fix, _words(found or error))


# --- limits -----------------------------------------------------------------------------------

_TOO_MUCH = {
    "max_bytes": "The response is larger than {:,} bytes.",
    "max_frames": "The run has more than {:,} frames.",
    "max_interim_responses": "The agent sent more than {:,} interim responses (1xx).",
}
_TOO_LONG = {
    "connect_timeout": "No connection within {:g} seconds.",
    "mcp_discovery_timeout": "No response within {:g} seconds.",
    "idle_timeout": "No data received for {:g} seconds.",
    "total_timeout": "The run took longer than {:g} seconds.",
}


def limit_exceeded(name: str, limits: RunLimits) -> Problem:
    """Return the problem for an exceeded limit of size or number, at which reading stops."""
    cause = _TOO_MUCH[name].format(getattr(limits, name))
    fix = f"Data received so far is kept. To allow more, raise {_variable(name)}."
    return Problem("refused", Stage.LIMIT, cause, fix, limit=name)


def timed_out(name: str, limits: RunLimits, stage: Stage) -> Problem:
    cause = _TOO_LONG[name].format(getattr(limits, name))
    if name == "connect_timeout":
        fix = "Check the host, the port and the firewall."
    elif stage is Stage.HEADERS:
        fix = f"The agent sent no response headers: check its log, or raise {_variable(name)}."
    else:
        fix = f"Check the agent’s log, or raise {_variable(name)}."
    return Problem("failed", stage, cause, fix, limit=name)


def _variable(name: str) -> str:
    return f"PLAYGROUND_{name.upper()}"


# --- sending and receiving --------------------------------------------------------------------


def unsendable(error: Exception | str) -> Problem:
    """Return the problem for a request that HTTP/1.1 cannot express."""
    cause = "The request could not be sent: it is not valid HTTP."
    fix = "Check the method and the names and values of the headers."
    return Problem("failed", Stage.SEND, cause, fix, str(error))


def connection_broken(error: Exception, stage: Stage, seen: str) -> Problem:
    """Return the problem for a broken connection or a protocol error at `stage`.

    `seen` is the last data received, printable.
    """
    words = _words(error)
    detail = "\n\n".join(filter(None, (words, seen)))
    lost = isinstance(error, (httpcore.NetworkError, OSError))
    if stage is not Stage.BODY:
        return Problem("failed", stage, *_no_head(lost, seen), detail)
    if lost or "closed connection" in words:
        cause = "The connection was lost before the response was complete."
        fix = "Data received so far is kept. Check the agent’s log: it may have crashed."
    else:
        cause = "The response violates the framing that its headers declare."
        fix = "The last bytes are in the details. A second response within the first causes this."
    return Problem("truncated", stage, cause, fix, detail)


def kept_connection_closed(error: Exception) -> Problem:
    """Return the problem for a reused connection that the server closed after the request."""
    cause = "The server closed the connection, which was kept from an earlier request."
    fix = (
        "The agent may have processed the request, so it was not sent again. Send it again if that "
        "does no harm."
    )
    return Problem("failed", Stage.HEADERS, cause, fix, _words(error))


def _no_head(lost: bool, seen: str) -> tuple[str, str]:
    """Return cause and fix if no response head could be read."""
    if seen.startswith("\\x15\\x03"):
        return "The server speaks TLS on this port.", USE_HTTPS
    if not seen or lost:
        return (
            "The server closed the connection without a response.",
            "Check the agent’s log: it may have crashed on this request. The port may also require"
            " https.",
        )
    return (
        "The received data is not an HTTP/1.1 response.",
        "Check that this is the URL of an HTTP agent; the received bytes are in the details.",
    )


def undecodable(encoding: str, error: str) -> Problem:
    """Return the problem for an unknown `Content-Encoding`, or for data that violates it."""
    cause = f"The response body could not be decompressed (Content-Encoding: {encoding})."
    fix = "Configure the agent to send no Content-Encoding, or gzip or deflate."
    return Problem("failed", Stage.DECODE, cause, fix, error)


def cut_compressed(encoding: str) -> Problem:
    """Return the problem for a body that ends within the compressed data."""
    cause = f"The compressed response is incomplete ({encoding})."
    fix = "Data decoded so far is kept. The agent must finish the compressed stream."
    return Problem("truncated", Stage.DECODE, cause, fix)


# --- exceptions -------------------------------------------------------------------------------


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and its causes; httpcore puts the original into the arguments."""
    while error is not None:
        yield error
        inner = error.args[0] if error.args else None
        error = inner if isinstance(inner, BaseException) else error.__cause__


def _errno(error: BaseException) -> int | None:
    for link in _chain(error):
        if isinstance(link, BaseExceptionGroup):
            return _errno(link.exceptions[-1])
        if isinstance(link, OSError) and link.errno:
            return link.errno
    return None


def _words(error: BaseException) -> str:
    """Return the message of the innermost error."""
    *_, last = _chain(error)
    return str(last) or type(last).__name__
