"""What is kept: agents, conversations, runs with their frames. Frames raw, the rest derived."""

from playground.models.agents import Agent
from playground.models.conversations import Conversation
from playground.models.peers import ActionServer
from playground.models.runs import FrameBatch, Run, RunKind, RunState
from playground.models.trackers import Tracker, TrackerStatus
from playground.models.twins import Twin

__all__ = [
    "ActionServer",
    "Agent",
    "Conversation",
    "FrameBatch",
    "Run",
    "RunKind",
    "RunState",
    "Tracker",
    "TrackerStatus",
    "Twin",
]
