"""The composer's form of an Agent API request (section "Request Models")."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from playground.protocols import schemas
from playground.protocols.agent_api.requests import SESSION, VERSIONS
from playground.protocols.request_form import FormSection, fields_of, sections_of

#: The members of the section "Session".
_SESSION = (*SESSION, "user_id")


@cache
def form() -> tuple[FormSection, ...]:
    """Return the form of the schema, with a section of its own for the session."""
    schema = schemas.load("agent-api", VERSIONS[-1].name, "request")
    messages, parameters, tools = sections_of(schema, "form")
    own = [each for each in parameters.fields if each.label not in _SESSION]
    assert parameters.others is not None
    others = replace(parameters.others, elsewhere=(*parameters.others.elsewhere, *_SESSION))
    session = fields_of({name: schema["properties"][name] for name in _SESSION})
    return (
        replace(messages, id=""),
        replace(parameters, fields=tuple(own), others=others),
        replace(
            tools,
            note="The agent may ask you to call these functions. You enter the output yourself, "
            "below the response.",
        ),
        FormSection(title="Session", id="form-session", fields=tuple(session)),
    )
