"""Actions: what an agent offers to do with a result (NLWeb 0.55 section 5; 0.54 section 7).

===========  ==========================================================================
`extract`    the actions of an item, at any depth
`plans`      an action plan: the exact call that an action is, and the reasons against it
`bindings`   the table of bindings, with the plan and the exchange of an action
`http`       row of the table: a call over HTTP
`over_mcp`   row of the table: the call of a tool of an MCP server
`over_a2a`   row of the table: a message to an A2A agent
`endpoints`  URL of an action over HTTP, from its `endpoint`
`response`   the response to an action over HTTP
`servers`    tools of an MCP server and card of an A2A agent, before an action runs
`tool_form`  arguments of a tool as form controls, from its JSON Schema
===========  ==========================================================================
"""

from playground.protocols.actions.bindings import BINDINGS, exchange, plan
from playground.protocols.actions.extract import Action, actions_of
from playground.protocols.actions.plans import UNSET, ActionPlan, ServerInfo, Unset

__all__ = [
    "BINDINGS",
    "UNSET",
    "Action",
    "ActionPlan",
    "ServerInfo",
    "Unset",
    "actions_of",
    "exchange",
    "plan",
]
