"""Actions: what an agent offers to do with a result (NLWeb 0.55 section 5; 0.54 section 7)."""

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
