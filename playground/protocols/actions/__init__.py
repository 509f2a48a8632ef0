"""Actions: what an agent offers to do with a result (NLWeb 0.55 section 5; 0.54 section 7).

============  =========================================================================
`reading`     the actions of an item, at any depth
`planning`    the exact call that an action is, before anything is sent
`http`        the call of an action over HTTP, to an address from `addresses`
`reply`       the reply to it
`over_mcp`    the call of a tool of an MCP server
`over_a2a`    the message to an A2A agent
`describing`  what there is to know of those before an action is run
`arguments`   the arguments of a tool as the controls of a form
============  =========================================================================
"""

from playground.protocols.actions.extract import Action, actions_of
from playground.protocols.actions.planning import BINDINGS, exchange, plan
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
