"""A reply with an HTTP status that refuses: what it means, what came, what to do about it."""

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

#: Bytes of a body that tell what it is.
LOOKED_AT = 64 * 1024
#: Characters of a header that are shown.
MAX_HEADER = 200
#: By binding, what is to be done about a status, where that is not the same for all.
_ADVICE = {"mcp": errors.fix_for}
#: Statuses that are about who asks, and those that come with a time to wait for.
_ABOUT_CREDENTIALS, _ABOUT_TIME = (401, 403), (429, 503)


@dataclass(frozen=True, slots=True)
class HttpErrorView:
    """What a page says about the status of a reply."""

    status: int
    #: The status in the words of the HTTP standard, "" for one that it does not define.
    phrase: str
    meaning: str
    advice: str
    #: What the body is, in words.
    received: str
    #: What `WWW-Authenticate` asks for, as it came.
    scheme: str
    #: `Retry-After` as it came, and the whole seconds of it that are left.
    retry_after: str
    wait: int | None

    @property
    def wants_credentials(self) -> bool:
        """Whether other credentials may help."""
        return self.status in _ABOUT_CREDENTIALS


def http_error_view(run: Run) -> HttpErrorView | None:
    """What there is to say of the status of a run that has ended; None where it refuses nothing."""
    status = run.status or 0
    if not run.is_final or (status < 400 and not _asks_to_wait(run)):
        return None
    headers, body = _reply(run)
    explained = explain_status(status)
    return HttpErrorView(
        status=status,
        phrase=_phrase(status),
        meaning=explained.meaning if explained else "",
        advice=_ADVICE.get(run.binding, unreadable.fix_for_status)(
            status, {**headers, "retry-after": ""}
        ),
        received=_came(run, headers.get("content-type", ""), body),
        scheme=headers.get("www-authenticate", "")[:MAX_HEADER],
        retry_after=run.retry_after if _asks_to_wait(run) else "",
        wait=_left(run, headers.get("date", "")) if _asks_to_wait(run) else None,
    )


def _asks_to_wait(run: Run) -> bool:
    """Whether a `Retry-After` is about sending again; beside a promise it is about asking."""
    return bool(run.retry_after) and (
        run.status in _ABOUT_TIME or run.outcome == Outcome.FAILURE.value
    )


def _reply(run: Run) -> tuple[dict[str, str], bytes]:
    """The headers of the last reply, and where its body begins."""
    headers: dict[str, str] = {}
    body = b""
    for frame in run.read_frames():
        if frame.kind is FrameKind.HEAD:
            headers, body = dict(read_head(frame.data)[1]), b""
        elif frame.kind is FrameKind.BODY:
            body += frame.data
        if len(body) > LOOKED_AT:
            break
    return headers, body[:LOOKED_AT]


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


#: What a reply is called that says no, or something else; NLWeb's in all other cases.
_FAILURES = {"agent-api": "An error that the agent puts into words"}
_REPLIES = {"agent-api": "An Agent API response"}


def _came(run: Run, media_type: str, body: bytes) -> str:
    """What the body is, told from what is in it and not from what its headers claim."""
    if run.outcome == Outcome.FAILURE.value:
        return _FAILURES.get(run.protocol, "A failure as NLWeb defines it")
    if run.outcome != Outcome.NONE.value:
        what = _REPLIES.get(run.protocol, f"An NLWeb {run.outcome}")
        return f"{what}, in spite of the status"
    if not run.bytes:
        return "Nothing: the reply has no body"
    if not body:
        return "An event stream that holds no answer"
    text = body.decode("utf-8", "replace")
    if is_json(text, 100) or (len(body) == LOOKED_AT and text.lstrip()[:1] in ("{", "[")):
        return f"JSON, but not {registry.response_name(run.protocol)}"
    named = media_type.partition(";")[0].strip()[:60]
    what = {"is an HTML page, not JSON": "An HTML page"}.get(
        _describe(text), "Text that is no JSON"
    )
    return f"{what} ({named})" if named else what


def _describe(text: str) -> str:
    return unreadable.describe_body(text, ValueError(), utf8=True)[0]


def _left(run: Run, date: str) -> int | None:
    """The seconds that are left of the time that the agent asked to wait."""
    came_at = (run.started_at or run.created_at) + timedelta(microseconds=run.headers_us or 0)
    asked = retry_after_seconds(run.retry_after, date or came_at.timestamp())
    if asked is None:
        return None
    gone = (timezone.now() - came_at).total_seconds()
    return max(0, round(min(asked, 1e9) - gone))
