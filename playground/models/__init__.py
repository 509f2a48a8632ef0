"""What is kept: agents, requests, runs with their frames. Frames raw, the rest derived."""

from playground.models.action_servers import ActionServer
from playground.models.agents import Agent
from playground.models.collection_runs import CollectionRun, Step
from playground.models.collections import Collection, Folder, SavedRequest, TrashedItem
from playground.models.conversations import Conversation
from playground.models.environments import Environment, Variable
from playground.models.frames import FrameBatch
from playground.models.promises import PolledPromise, PollingStatus
from playground.models.retention import Retention
from playground.models.runs import Run, RunKind, RunSource, RunState
from playground.models.shares import Share
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
    "PolledPromise",
    "PollingStatus",
    "Retention",
    "Run",
    "RunKind",
    "RunSource",
    "RunState",
    "SavedRequest",
    "Share",
    "Step",
    "TrashedItem",
    "Twin",
    "Variable",
]
