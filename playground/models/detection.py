"""Result of the connection doctor, as it is stored in `Agent.detected` and `Run.detected`.

`{"protocol", "version", "binding", "generation", "dialect", "label", "url", "at", "report"}`:
the detected settings and the complete report. While a diagnosis is in progress, or when it
detected nothing, there is only the report.
"""

from __future__ import annotations

from typing import Any

from playground.models.agents import Agent
from playground.models.runs import Run
from playground.protocols import registry
from playground.protocols.origins import MAX_URL, same_origin


def report_of(subject: Agent | Run) -> dict[str, Any] | None:
    """Return the latest report of an agent or a run, None without one or if its URL has changed."""
    detected = subject.detected
    report = detected.get("report") if isinstance(detected, dict) else None
    if not isinstance(report, dict) or report.get("url", subject.url) != subject.url:
        return None
    return report


#: The detected settings that are stored with a run, and their greatest length.
_SETTINGS = ("protocol", "version", "binding", "generation", "dialect", "label", "url", "at")
_MAX_SETTING = MAX_URL


def detected_settings(value: Any) -> dict[str, str] | None:
    """Return detected settings in a value of the composer's form, None for anything else."""
    if not isinstance(value, dict) or not isinstance(value.get("label"), str):
        return None
    texts = ((name, value.get(name)) for name in _SETTINGS)
    return {name: text[:_MAX_SETTING] for name, text in texts if isinstance(text, str)}


def proposed_changes(agent: Agent) -> dict[str, str]:
    """Return the fields of the agent that differ from the detected settings, with those.

    Empty where nothing was detected or nothing differs. The URL never changes its origin: the
    agent's credentials belong to that origin.
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


def detected_target(run: Run) -> dict[str, str]:
    """Return the detected target of a run to a URL: `url`, `protocol`, `binding`, `version`.

    Empty where nothing was detected, or the run was sent to just that.
    """
    agent = run.target_agent if run.sent_to_url else None
    if agent is None:
        return {}
    agent.detected = run.detected
    changes = proposed_changes(agent)
    names = ("url", "protocol", "binding", "version")
    return {name: changes.get(name, getattr(agent, name)) for name in names} if changes else {}


def _url(agent: Agent, found: dict[str, Any]) -> str:
    """Return the detected URL; the agent's own where it is equivalent."""
    url = found.get("url")
    if not isinstance(url, str) or not same_origin(url, agent.url) or len(url) > MAX_URL:
        return agent.url
    own = agent.url.partition("?")[0].rstrip("/")
    return agent.url if url.rstrip("/") in (own, own.removesuffix("/ask")) else url


def _version(agent: Agent, found: dict[str, Any]) -> str:
    """Return the detected version, or else the agent's own, or the newest of the protocol."""
    known = [version.name for version in registry.versions(found["protocol"])]
    for version in (found.get("version"), agent.version):
        if version in known:
            return str(version)
    return known[-1]
