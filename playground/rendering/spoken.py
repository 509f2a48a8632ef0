"""How a run was spoken and carried, in words."""

from __future__ import annotations

from playground.models import Agent, Run
from playground.protocols import registry
from playground.protocols.exchange import Version


def version_of(run: Run) -> Version:
    """The row of the run's version; one without traits for a version that is not known here."""
    language = registry.PROTOCOLS.get(run.protocol)
    rows = language.versions if language else ()
    return next((row for row in rows if row.name == run.version), Version(run.version, run.version))


def binding_of(run: Run) -> str:
    """The binding by its name."""
    known = run.binding in Agent.Binding.values
    return str(Agent.Binding(run.binding).label) if known else run.binding
