"""The `traceparent` header (W3C Trace Context, https://www.w3.org/TR/trace-context/)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.frames import Frame, FrameKind
from playground.protocols.trace_context import (
    TraceParent,
    has_traceparent,
    parse_traceparent,
    sent_trace_id,
)

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{PARENT}-01"


class TestReader:
    @pytest.mark.parametrize(
        ("value", "sampled"),
        [
            (VALID, True),
            (f"00-{TRACE}-{PARENT}-00", False),
            # 3.2.2.5: other flags are ignored, and so is their meaning.
            (f"00-{TRACE}-{PARENT}-03", True),
            (f"00-{TRACE}-{PARENT}-fe", False),
            (f" \t{VALID} ", True),
            # 4.3: a later version may have more members.
            (f"01-{TRACE}-{PARENT}-01", True),
            (f"cc-{TRACE}-{PARENT}-01-what-the-future-will-be-like", True),
            (f"cc-{TRACE}-{PARENT}-01-", True),
        ],
    )
    def test_valid(self, value: str, sampled: bool) -> None:
        assert parse_traceparent(value) == TraceParent(TRACE, PARENT, sampled)

    @pytest.mark.parametrize(
        "value",
        [
            "",
            "00",
            f"00-{TRACE}-{PARENT}",
            # 3.2.2: version 00 has four members.
            f"{VALID}-01",
            f"{VALID}.",
            # 3.2.2.1: version ff is not valid; a version has two digits.
            f"ff-{TRACE}-{PARENT}-01",
            f"0-{TRACE}-{PARENT}-01",
            f"0x-{TRACE}-{PARENT}-01",
            # 4.3: what follows the flags of a later version begins with a dash.
            f"cc-{TRACE}-{PARENT}-01.what",
            # 3.2.2.3, 3.2.2.4: neither id is all zeros.
            f"00-{'0' * 32}-{PARENT}-01",
            f"00-{TRACE}-{'0' * 16}-01",
            # 3.2.2: digits are in lower case.
            VALID.upper(),
            f"00-{TRACE[:-1]}-{PARENT}-01",
            f"00-{TRACE}0-{PARENT}-01",
            f"00-{TRACE}-{PARENT[:-1]}-01",
            f"00-{TRACE}-{PARENT}-1",
            f"00-{TRACE}-{PARENT}-0x",
            f"00-{TRACE[:-1]}٣-{PARENT}-01",
            f"{VALID},{VALID}",
            f"{VALID}\n",
        ],
    )
    def test_not_valid(self, value: str) -> None:
        assert parse_traceparent(value) is None

    @given(st.text())
    def test_any_text(self, value: str) -> None:
        assert parse_traceparent(value) is None

    @given(
        st.integers(1, 16**32 - 1), st.integers(1, 16**16 - 1), st.booleans(), st.integers(0, 254)
    )
    def test_what_was_written_is_read(
        self, trace: int, parent: int, sampled: bool, version: int
    ) -> None:
        position = TraceParent(f"{trace:032x}", f"{parent:016x}", sampled)
        value = str(position)
        assert len(value) == 55
        assert parse_traceparent(value) == position
        assert parse_traceparent(f"{version:02x}{value[2:]}") == position


def test_written() -> None:
    assert str(TraceParent(TRACE, PARENT)) == VALID
    assert str(TraceParent(TRACE, PARENT, sampled=False)) == f"00-{TRACE}-{PARENT}-00"


@pytest.mark.parametrize("name", ["traceparent", "Traceparent", "TRACEPARENT"])
def test_a_header_in_any_case(name: str) -> None:
    assert has_traceparent([("Accept", "*/*"), (name, "x")])
    assert not has_traceparent([("Accept", name)])


def test_the_trace_id_of_a_request() -> None:
    call = f"POST /ask HTTP/1.1\r\nHost: a\r\nTraceParent: {VALID}\r\n\r\n{{}}".encode()
    assert sent_trace_id(Frame(1, 0, FrameKind.CALL, call)) == TRACE
    assert sent_trace_id(Frame(1, 0, FrameKind.CALL, b"")) == ""
