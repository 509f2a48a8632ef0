"""What the connection doctor has found of an agent, as it is kept in `Agent.detected`.

`{"protocol", "version", "binding", "generation", "dialect", "label", "url", "at", "report"}`:
what answered and where, and the whole report. While an examination is under way, or when it
found nothing, there is only the report.
"""

from __future__ import annotations

from typing import Any

from playground.models.agents import Agent
from playground.protocols import registry
from playground.protocols.origins import same_origin


def report_of(agent: Agent) -> dict[str, Any] | None:
    """The agent's latest report, None where there is none or its address has changed."""
    detected = agent.detected
    report = detected.get("report") if isinstance(detected, dict) else None
    if not isinstance(report, dict) or report.get("url", agent.url) != agent.url:
        return None
    return report


def proposed_changes(agent: Agent) -> dict[str, str]:
    """The fields of the agent that differ from what was found, with the values found.

    Empty where nothing was found, or where the agent is set to it already. The address never
    leaves its origin: what authenticates there must not go anywhere else.
    """
    report = report_of(agent)
    found = report.get("found") if report else None
    if not isinstance(found, dict) or found.get("protocol") not in registry.PROTOCOLS:
        return {}
    wanted = {
        "url": _url(agent, found),
        "protocol": found["protocol"],
        "binding": found["binding"] if found.get("binding") in registry.BINDINGS else "http",
    }
    wanted["version"] = _version(agent, found)
    return {name: value for name, value in wanted.items() if getattr(agent, name) != value}


def _url(agent: Agent, found: dict[str, Any]) -> str:
    """The address that was found; the agent's own where it means the same."""
    url = found.get("url")
    if not isinstance(url, str) or not same_origin(url, agent.url) or len(url) > 2000:
        return agent.url
    own = agent.url.partition("?")[0].rstrip("/")
    return agent.url if url.rstrip("/") in (own, own.removesuffix("/ask")) else url


def _version(agent: Agent, found: dict[str, Any]) -> str:
    """The version that was found, or else the agent's own, or the newest of the protocol."""
    known = [version.name for version in registry.versions(found["protocol"])]
    for version in (found.get("version"), agent.version):
        if version in known:
            return str(version)
    return known[-1]
