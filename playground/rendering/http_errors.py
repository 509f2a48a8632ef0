"""HTTP errors of a run: meaning of the status, received body, advice and `Retry-After`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from django.utils import timezone

from playground.models import Run
from playground.protocols import registry, unreadable
from playground.protocols.events import Outcome
from playground.protocols.frames import FrameKind
from playground.protocols.http import is_json, read_head
from playground.protocols.mcp import errors
from playground.protocols.nlweb.failures import explain_status, retry_after_seconds

#: Bytes of a body that are examined.
MAX_BODY = 64 * 1024
#: Characters of a header that are shown.
MAX_HEADER = 200
#: Binding to the function with advice about a status, if that differs from HTTP.
_ADVICE = {"mcp": errors.fix_for}
#: Statuses about credentials, and those that come with `Retry-After` (RFC 9110).
_CREDENTIALS_STATUSES, _RETRY_STATUSES = (401, 403), (429, 503)


@dataclass(frozen=True, slots=True)
class HttpErrorView:
    """An HTTP error as its template shows it."""

    status: int
    #: Reason phrase of the HTTP standard, "" for a status that it does not define.
    phrase: str
    meaning: str
    advice: str
    #: Kind of the body as text.
    received: str
    #: `WWW-Authenticate` as received.
    scheme: str
    #: `Retry-After` as received, and the whole seconds of it that remain.
    retry_after: str
    wait: int | None

    @property
    def wants_credentials(self) -> bool:
        """Return whether other credentials may help."""
        return self.status in _CREDENTIALS_STATUSES


def http_error_view(run: Run) -> HttpErrorView | None:
    """Return the HTTP error of a final run; None without an error status and `Retry-After`."""
    status = run.status or 0
    if not run.is_final or (status < 400 and not _has_retry_after(run)):
        return None
    headers, body = _last_response(run)
    explained = explain_status(status)
    return HttpErrorView(
        status=status,
        phrase=_phrase(status),
        meaning=explained.meaning if explained else "",
        advice=_ADVICE.get(run.binding, unreadable.fix_for_status)(
            status, {**headers, "retry-after": ""}
        ),
        received=_body_kind(run, headers.get("content-type", ""), body),
        scheme=headers.get("www-authenticate", "")[:MAX_HEADER],
        retry_after=run.retry_after if _has_retry_after(run) else "",
        wait=_remaining_seconds(run, headers.get("date", "")) if _has_retry_after(run) else None,
    )


def _has_retry_after(run: Run) -> bool:
    """Return whether `Retry-After` is about a retry; with a promise it is about polling."""
    return bool(run.retry_after) and (
        run.status in _RETRY_STATUSES or run.outcome == Outcome.FAILURE.value
    )


def _last_response(run: Run) -> tuple[dict[str, str], bytes]:
    """Return the headers and the beginning of the body of the last response."""
    headers: dict[str, str] = {}
    body = b""
    for frame in run.read_frames():
        if frame.kind is FrameKind.HEAD:
            headers, body = dict(read_head(frame.data)[1]), b""
        elif frame.kind is FrameKind.BODY:
            body += frame.data
        if len(body) > MAX_BODY:
            break
    return headers, body[:MAX_BODY]


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


#: Protocol to the name of a failure, and of any other response; the default is NLWeb.
_FAILURES = {"agent-api": "An error that the agent puts into words"}
_REPLIES = {"agent-api": "An Agent API response"}


def _body_kind(run: Run, media_type: str, body: bytes) -> str:
    """Return the kind of the body, by its content and not by its headers."""
    if run.outcome == Outcome.FAILURE.value:
        return _FAILURES.get(run.protocol, "A failure as NLWeb defines it")
    if run.outcome != Outcome.NONE.value:
        kind = _REPLIES.get(run.protocol, f"An NLWeb {run.outcome}")
        return f"{kind}, in spite of the status"
    if not run.bytes:
        return "Nothing: the reply has no body"
    if not body:
        return "An event stream that holds no answer"
    text = body.decode("utf-8", "replace")
    if is_json(text, 100) or (len(body) == MAX_BODY and text.lstrip()[:1] in ("{", "[")):
        return f"JSON, but not {registry.response_name(run.protocol)}"
    media_type = media_type.partition(";")[0].strip()[:60]
    kind = {"is an HTML page, not JSON": "An HTML page"}.get(
        _describe(text), "Text that is no JSON"
    )
    return f"{kind} ({media_type})" if media_type else kind


def _describe(text: str) -> str:
    return unreadable.describe_body(text, ValueError(), utf8=True)[0]


def _remaining_seconds(run: Run, date: str) -> int | None:
    """Return the remaining whole seconds of `Retry-After`; None if it cannot be parsed."""
    received_at = (run.started_at or run.created_at) + timedelta(microseconds=run.headers_us or 0)
    delay = retry_after_seconds(run.retry_after, date or received_at.timestamp())
    if delay is None:
        return None
    elapsed = (timezone.now() - received_at).total_seconds()
    return max(0, round(min(delay, 1e9) - elapsed))
