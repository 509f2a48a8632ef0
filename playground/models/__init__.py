"""Models: agents, collections, runs with their frames, conversations, promises, shares.

Frames are stored verbatim; events and everything else about a response are derived from them.
"""

from playground.models.agents import ActionServer, Agent
from playground.models.collection_runs import CollectionRun, Step
from playground.models.collections import Collection, Folder, SavedRequest, SkippedCollection
from playground.models.conversations import Conversation, McpSession
from playground.models.driving import QueuedWork
from playground.models.environments import Environment, Variable
from playground.models.frames import FrameBatch
from playground.models.lessons import LessonProgress
from playground.models.promises import PolledPromise, PollingStatus
from playground.models.runs import Run, RunKind, RunSource, RunState, Twin
from playground.models.shares import Share
from playground.models.storage import LimitError, Retention

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
