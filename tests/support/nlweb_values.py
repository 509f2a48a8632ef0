"""Hypothesis strategies for arbitrary JSON values with the member names of NLWeb."""

from __future__ import annotations

from hypothesis import strategies as st

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text(st.characters(), max_size=6)
    | st.sampled_from(["answer", "Failure", "promise", "api_key", "result_batch", "complete"])
)
#: Names that have a meaning in some location, so that arbitrary values are in each of them.
NAMES = st.sampled_from(
    [
        *["_meta", "meta", "response_type", "session_context", "summary", "version"],
        *["results", "structuredData", "structured_data", "content", "item", "index"],
        *["elicitation", "questions", "id", "text", "type", "options", "default", "label"],
        *["promise", "token", "estimated_time", "progress", "message"],
        *["error", "code", "details", "message_type", "items", "answer", "key_value"],
        *["query", "context", "prefer", "@type", "prev", "streaming", "promise_token", "action"],
    ]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=15,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=6)
EVENT_NAMES = st.sampled_from(
    [
        *[None, "message", "start", "result", "content", "error", "complete", "end", "other"],
        *["elicitation", "promise", "failure", "results", "answer"],
    ]
)
