"""Members that differ between two equal responses to one request: ids, tokens, times."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IgnoredMembers:
    """Members that a comparison ignores, whatever their value."""

    what: str
    #: Names of members; case, `_` and `-` are ignored.
    names: tuple[str, ...]
    #: Whether inside results as well: there a `duration` may be that of a film.
    in_results: bool = False


#: All ignored members, in the order in which they are shown.
IGNORED: tuple[IgnoredMembers, ...] = (
    IgnoredMembers(
        "Session and message ids",
        (
            "request_id", "query_id", "conversation_id", "session_id", "response_id",
            "message_id", "msg_id", "call_id", "trace_id", "correlation_id", "run_id", "task_id",
        ),
        in_results=True,
    ),
    IgnoredMembers("Tokens", ("promise_token", "state_token", "request_state"), in_results=True),
    IgnoredMembers("Tokens, outside of results", ("token", "cursor")),
    IgnoredMembers(
        "Timestamps, outside of results",
        (
            "timestamp", "time", "date", "created", "created_at", "updated_at", "started_at",
            "completed_at", "generated_at", "expires_at", "server_time",
        ),
    ),
    IgnoredMembers(
        "Durations, outside of results",
        (
            "processing_time", "processing_time_ms", "response_time", "response_time_ms",
            "duration", "duration_ms", "elapsed", "elapsed_ms", "latency", "latency_ms", "took",
            "took_ms", "time_to_first_result", "estimated_time",
        ),
    ),
    IgnoredMembers(
        "Stream metadata, outside of results",
        ("streaming", "total_items", "total_results", "result_count", "results_count"),
    ),
    IgnoredMembers(
        "Progress and usage, outside of results", ("progress", "usage")
    ),
)  # fmt: skip

#: What is ignored besides members, in words.
UNSEEN: tuple[str, ...] = (
    "order and index of results",
    "streaming and chunking",
    "progress, log messages, tool lists and the handshake",
)


def _normalize(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


_EVERYWHERE = frozenset(_normalize(name) for row in IGNORED if row.in_results for name in row.names)
_OUTSIDE = frozenset(_normalize(name) for row in IGNORED for name in row.names)


def skip_in_results(name: str) -> bool:
    return _normalize(name) in _EVERYWHERE


def skip_outside(name: str) -> bool:
    return _normalize(name) in _OUTSIDE
