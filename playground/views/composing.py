"""What the composer of each protocol needs: versions, panels, fields."""

from __future__ import annotations

import json
from typing import Any

from playground.models import Agent, Run
from playground.protocols import registry
from playground.protocols.agent_api.parameters import PARAMETERS, Parameter
from playground.protocols.agent_api.turns import SESSION

#: The editors that a parameter's field offers, by the parameter's kind.
_TYPES = {"text": "text", "texts": "text list", "number": "number", "integer": "number"}
#: What the demo agent's tour offers as a call to be answered by hand.
_TOUR = {
    "input": [
        {
            "role": "user",
            "type": "message",
            "content": [{"type": "text", "text": "What weather is it for a barbecue?"}],
        }
    ],
    "stream": True,
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "description": "The weather at a place.",
                "parameters": {
                    "type": "object",
                    "properties": {"place": {"type": "string"}},
                    "required": ["place"],
                },
            },
        }
    ],
}
_OF_A_SESSION = frozenset({*SESSION, "user_id"})


def composer_context(agent: Agent | None, run: Run | None) -> dict[str, Any]:
    """The protocol that is composed for, and what the panels of all protocols show.

    A run brings its own; without an agent it is that of the first row of the table.
    """
    known = next(iter(registry.PROTOCOLS))
    protocol = run.protocol if run else (agent.protocol if agent else known)
    protocol = protocol if protocol in registry.PROTOCOLS else known
    latest = registry.versions(protocol)[-1].name
    parameters = [row for row in PARAMETERS.values() if row.name not in _OF_A_SESSION]
    session = [row for row in PARAMETERS.values() if row.name in _OF_A_SESSION]
    return {
        "protocol": protocol,
        "version": run.version if run else (agent.version if agent else latest),
        "versions": [
            (name, version) for name, row in registry.PROTOCOLS.items() for version in row.versions
        ],
        "parameters": [_field(row) for row in parameters],
        "session_fields": [_field(row) for row in session],
        "tour_call": json.dumps(_TOUR),
    }


def _field(row: Parameter) -> dict[str, str]:
    wanted = "" if row.kind == "text" else f" {row.expected[0].upper()}{row.expected[1:]}."
    return {
        "label": row.name,
        "pointer": f"/{row.name}",
        "types": _TYPES[row.kind],
        "hint": f"{row.meaning}{wanted}",
    }
