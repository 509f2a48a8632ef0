"""Rules of the Agent API.

The title of a rule states the requirement; the docstring of its function gives the reason, or
how the rule interprets the specification.

==============  =====================================================================
`http`          HTTP, the stream, and whether it consists of objects of the protocol
`fields`        members of responses, messages and contents, and their types
`vocabulary`    listed types, roles, statuses and names of members
`lifecycle`     order and statuses, sequence numbers
`completion`    usage, times and session of a completed response
`identity`      what stays the same: ids, types, roles, session
`contents`      contents as they are streamed
`tools`         tool calls and their outputs
`failures`      errors
`transcript`    transcript: a request and its response as these rules read them
`stream_state`  state of messages and contents after each object of a stream
`rule`          decorator of these rules
==============  =====================================================================
"""

from __future__ import annotations

from playground.conformance.agent_api import (
    completion,
    contents,
    failures,
    fields,
    http,
    identity,
    lifecycle,
    tools,
    vocabulary,
)
from playground.conformance.agent_api.rule import VERSION, AgentRule
from playground.conformance.agent_api.transcript import AgentTranscript, read

#: Every rule, in the order in which a report lists them.
RULES: tuple[AgentRule, ...] = (
    *http.RULES,
    *fields.RULES,
    *vocabulary.RULES,
    *lifecycle.RULES,
    *identity.RULES,
    *contents.RULES,
    *tools.RULES,
    *failures.RULES,
    *completion.RULES,
)

__all__ = ["RULES", "VERSION", "AgentTranscript", "read"]
