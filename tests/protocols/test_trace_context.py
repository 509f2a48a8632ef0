"""The `traceparent` header (W3C Trace Context, https://www.w3.org/TR/trace-context/)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.frames import Frame, FrameKind
from playground.protocols.trace_context import has_traceparent, sent_trace_id, trace_id_of

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{PARENT}-01"


class TestReader:
    @pytest.mark.parametrize(
        "value",
        [
            VALID,
            # 3.2.2.5: flags make no difference.
            f"00-{TRACE}-{PARENT}-00",
            f"00-{TRACE}-{PARENT}-fe",
            f" \t{VALID} ",
            # 4.3: a later version may have more members.
            f"01-{TRACE}-{PARENT}-01",
            f"cc-{TRACE}-{PARENT}-01-what-the-future-will-be-like",
            f"cc-{TRACE}-{PARENT}-01-",
        ],
    )
    def test_valid(self, value: str) -> None:
        assert trace_id_of(value) == TRACE

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
        assert trace_id_of(value) == ""

    @given(st.text())
    def test_any_text(self, value: str) -> None:
        assert trace_id_of(value) == ""


@pytest.mark.parametrize("name", ["traceparent", "Traceparent", "TRACEPARENT"])
def test_a_header_in_any_case(name: str) -> None:
    assert has_traceparent([("Accept", "*/*"), (name, "x")])
    assert not has_traceparent([("Accept", name)])


def test_the_trace_id_of_a_request() -> None:
    call = f"POST /ask HTTP/1.1\r\nHost: a\r\nTraceParent: {VALID}\r\n\r\n{{}}".encode()
    assert sent_trace_id(Frame(1, 0, FrameKind.CALL, call)) == TRACE
    assert sent_trace_id(Frame(1, 0, FrameKind.CALL, b"")) == ""
