"""The Agent API: messages to an agent, and its response as a stream of messages and contents.

==============  ==========================================================================
`versions`      the one row of the version table
`vocabulary`    roles, types and statuses, the specification's and those in use beside it
`parameters`    model and sampling parameters with their ranges
`requests`      build a request, and what it says
`checking`      what is wrong with a request
`turns`         the next request: a message, the output of a function, an approval
`reader`        a response, whole or streamed, as events
`messages`      messages and contents, each told once
`assembly`      what is remembered of them while they come
`parts`         what a part of a message holds
`tools`         calls and outputs
`failures`      errors in every form
`outcome`       what the agent has answered so far
`whole`         a response as one document, put together from its events
`transitions`   which status may follow on which
==============  ==========================================================================
"""

from playground.protocols.agent_api.checking import validate_request
from playground.protocols.agent_api.reader import AgentAPIReader
from playground.protocols.agent_api.requests import (
    new_request,
    operation,
    text_of_request,
    wants_stream,
)
from playground.protocols.agent_api.turns import (
    follow_up_document,
    session_context,
    with_session_context,
)
from playground.protocols.agent_api.versions import VERSIONS

__all__ = [
    "VERSIONS",
    "AgentAPIReader",
    "follow_up_document",
    "new_request",
    "operation",
    "session_context",
    "text_of_request",
    "validate_request",
    "wants_stream",
    "with_session_context",
]
