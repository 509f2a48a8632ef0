"""Responses of an Agent API agent, frame by frame, and strategies for malformed ones."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from playground.models import Run
from playground.protocols.frames import Frame
from tests.support.stored_runs import CALL, END, HEAD, OPEN, Recording, event
from tests.support.strategies import json_values, texts

REQUEST = {"input": [{"role": "user", "type": "message", "content": "hello"}], "stream": True}


def recording(**fields: Any) -> Recording:
    """Return a run of an Agent API agent that grows batch by batch."""
    about = {"protocol": "agent-api", "version": "1", "request": REQUEST, "text": "hello"}
    return Recording(**{**about, "url": "http://agent.example/process", **fields})


def ended(*frames: Frame, state: str = "completed", **fields: Any) -> Run:
    """Return a run of an Agent API agent that has come to its end with these frames."""
    made = recording(**fields)
    made.add(CALL, OPEN, HEAD, *frames, END)
    return made.end(state)


def says(**payload: Any) -> Frame:
    """Return the frame of an object of a stream."""
    return event("data: " + json.dumps(payload))


def response(status: str, **rest: Any) -> Frame:
    return says(object="response", id="response_1", status=status, **rest)


def message(name: str, kind: str = "message", status: str = "in_progress", **rest: Any) -> Frame:
    about = {"id": name, "type": kind, "role": "assistant", "status": status, **rest}
    return says(object="message", **about)


def piece(name: str, text: str, index: int = 0, **rest: Any) -> Frame:
    about = {"msg_id": name, "index": index, "type": "text", "delta": True, "text": text}
    return says(object="content", status="in_progress", **{**about, **rest})


def whole(name: str, index: int = 0, **rest: Any) -> Frame:
    about = {"msg_id": name, "index": index, "delta": False, "status": "completed"}
    return says(object="content", **{**about, **rest})


def data(name: str, value: Any, index: int = 0, **rest: Any) -> Frame:
    return whole(name, index, type="data", data=value, **rest)


def a_call(name: str = "m1", call: str = "c1", kind: str = "function_call") -> list[Frame]:
    """Return the frames of a message that calls a function."""
    value = {"call_id": call, "name": "look_up", "arguments": '{"dish": "soup"}'}
    return [message(name, kind), data(name, value), message(name, kind, "completed")]


def an_output(name: str = "m2", call: str = "c1", output: Any = "42") -> list[Frame]:
    """Return the frames of a message with the output."""
    kind = "plugin_call_output"
    value = {"call_id": call, "name": "look_up", "output": output}
    return [message(name, kind), data(name, value), message(name, kind, "completed")]


_ids = st.sampled_from(("m1", "m2", "m3"))
_kinds = st.sampled_from(
    "message reasoning function_call plugin_call plugin_call_output function_call_output mcp_call "
    "mcp_list_tools mcp_approval_request mcp_approval_response heartbeat error a2ui_action".split()
)
_statuses = st.sampled_from(
    ("created", "in_progress", "completed", "failed", "rejected", "odd", "")
)
_indexes = st.integers(0, 3)
_values = json_values | st.fixed_dictionaries(
    {
        "call_id": st.sampled_from(("c1", "c2", "")),
        "name": texts,
        "arguments": texts | json_values,
    },
    optional={"output": texts | json_values, "tools": json_values},
)
_texts = st.fixed_dictionaries({"type": st.just("text"), "text": texts, "status": _statuses})
_images = st.fixed_dictionaries({"type": st.just("image"), "image_url": texts | json_values})
_proper = st.one_of(
    st.builds(response, _statuses, usage=json_values),
    st.builds(message, _ids, _kinds, _statuses),
    st.builds(piece, _ids, texts, _indexes),
    st.builds(
        lambda name, index, part: whole(name, index, **part), _ids, _indexes, _texts | _images
    ),
    st.builds(data, _ids, _values, _indexes),
    st.builds(message, _ids, _kinds, st.just("completed"), content=json_values),
)
_anything = st.builds(lambda value: event("data: " + json.dumps(value)), json_values)


@st.composite
def streams(draw: st.DrawFn) -> list[list[Frame]]:
    """Draw the frames of a response in any batches."""
    body = draw(st.lists(_proper | _anything, max_size=25))
    frames = [CALL, OPEN, HEAD, *body, *draw(st.sampled_from(([END], [])))]
    cuts = sorted(draw(st.sets(st.integers(1, len(frames) - 1), max_size=len(frames))))
    edges = [0, *cuts, len(frames)]
    return [frames[a:b] for a, b in pairwise(edges)]
