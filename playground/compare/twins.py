"""Side-by-side runs (twins): the second targets of a request, and both responses compared.

A second target is the other binding, another version, or another agent. For views and commands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from playground.base.credentials import is_placeholder
from playground.compare.comparison import (
    ComparedPart,
    distinguishing_labels,
    not_comparable_reasons,
    response_side,
)
from playground.engine.preparation import available_bindings, retarget, with_new_ids
from playground.engine.request import PreparedRequest
from playground.models import Agent, Run, Twin
from playground.protocols import registry
from playground.protocols.diff.responses import Comparison, compare
from playground.protocols.headers import is_credential
from playground.protocols.origins import same_origin


@dataclass(frozen=True, slots=True)
class TwinSide:
    """One of the two runs."""

    #: `Left` or `Right`.
    position: str
    run: Run
    #: What distinguishes it from the other side: agent, version, binding.
    title: str


def twin_sides(twin: Twin) -> tuple[TwinSide, TwinSide]:
    titles = _titles(twin.left, twin.right)
    return TwinSide("Left", twin.left, titles[0]), TwinSide("Right", twin.right, titles[1])


def twin_result(twin: Twin) -> ComparedPart:
    """Return the comparison of both responses, reading them once both runs have ended."""
    left, right = twin.left, twin.right
    if not (left.is_final and right.is_final):
        return ComparedPart("waiting", "Waiting for both responses…")
    if reasons := tuple(not_comparable_reasons(left, right)):
        return ComparedPart("impossible", "Responses cannot be compared", reasons)
    return ComparedPart.of(comparison_of(left, right), _titles(left, right))


def comparison_of(left: Run, right: Run) -> Comparison:
    """Compare the responses of two completed runs, reading both."""
    return compare(response_side(left), response_side(right))


def _titles(left: Run, right: Run) -> tuple[str, str]:
    return distinguishing_labels(left, right) or (left.agent_name, right.agent_name)


# Second targets


@dataclass(frozen=True, slots=True)
class TwinTarget:
    """One other target of a request."""

    #: The value in a form: `binding:mcp`, `version:0.54`, `agent:demo`.
    value: str
    label: str
    prepared: PreparedRequest


def twin_targets_for(prepared: PreparedRequest, agents: Iterable[Agent]) -> Iterator[TwinTarget]:
    """Yield the other targets of `prepared`; `agents` are those of its user."""
    agent, target = prepared.agent, prepared.target
    for name in available_bindings(agent):
        if name != target.binding:
            over = retarget(prepared, agent, prepared.headers, binding=name)
            yield TwinTarget(f"binding:{name}", f"Over {Agent.Binding(name).label}", over)
    for version in registry.of(agent.protocol).versions:
        if version.name != target.version:
            convert = partial(convert_to_version, before=target.version, after=version.name)
            converted = prepared.with_target(version=version.name).with_change(convert)
            yield TwinTarget(f"version:{version.name}", f"As {version.label}", converted)
    for other in agents:
        if other.pk != agent.pk and other.protocol == agent.protocol:
            to_other = with_new_ids(convert_to_agent(prepared, other))
            yield TwinTarget(f"agent:{other.slug}", f"To {other.name}", to_other)


def convert_to_version(request: Mapping[str, Any], before: str, after: str) -> dict[str, Any]:
    """Return a document of one version as one of another, with its version member changed."""
    meta = request.get("meta")
    if before == after or not isinstance(meta, Mapping):
        return dict(request)
    names = {name for name in ("version", "api_version") if meta.get(name) == before}
    return {**request, "meta": {**meta, **dict.fromkeys(names, after)}}


def convert_to_agent(prepared: PreparedRequest, agent: Agent) -> PreparedRequest:
    """Return the same request to another agent, over the binding of that agent.

    Headers with credentials were entered for one agent and are sent to no other origin; where
    secrets may be sent is decided by `playground.engine.request`.
    """
    is_same_origin = same_origin(prepared.target.url, agent.url)
    headers = [
        (name, value)
        for name, value in prepared.headers
        if is_same_origin or not is_credential(name) or is_placeholder(value)
    ]
    return retarget(prepared, agent, headers)
