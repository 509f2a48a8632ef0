"""Models: agents, collections, runs with their frames, conversations, promises, shares.

Frames are stored verbatim; events and everything else about a response are derived from them.
"""

from playground.models.action_servers import ActionServer
from playground.models.agents import Agent
from playground.models.collection_runs import CollectionRun, Step
from playground.models.collections import Collection, Folder, SavedRequest, SkippedCollection
from playground.models.conversations import Conversation
from playground.models.environments import Environment, Variable
from playground.models.frames import FrameBatch
from playground.models.lessons import LessonProgress
from playground.models.mcp_sessions import McpSession
from playground.models.promises import PolledPromise, PollingStatus
from playground.models.queued_work import QueuedWork
from playground.models.runs import Run, RunKind, RunSource, RunState
from playground.models.shares import Share
from playground.models.storage import LimitError, Retention
from playground.models.twins import Twin

__all__ = [
    "ActionServer",
    "Agent",
    "Collection",
    "CollectionRun",
    "Conversation",
    "Environment",
    "Folder",
    "FrameBatch",
    "LessonProgress",
    "LimitError",
    "McpSession",
    "PolledPromise",
    "PollingStatus",
    "QueuedWork",
    "Retention",
    "Run",
    "RunKind",
    "RunSource",
    "RunState",
    "SavedRequest",
    "Share",
    "SkippedCollection",
    "Step",
    "Twin",
    "Variable",
]
