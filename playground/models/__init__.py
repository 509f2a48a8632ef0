"""What is kept: agents, requests, runs with their frames. Frames raw, the rest derived."""

from playground.models.agents import Agent
from playground.models.collection_runs import CollectionRun, Step
from playground.models.collections import Collection, Folder, Removal, SavedRequest
from playground.models.conversations import Conversation
from playground.models.environments import Environment, Variable
from playground.models.frames import FrameBatch
from playground.models.peers import ActionServer
from playground.models.retention import Retention
from playground.models.runs import MadeBy, Run, RunKind, RunState
from playground.models.shares import Share
from playground.models.trackers import Tracker, TrackerStatus
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
    "MadeBy",
    "Removal",
    "Retention",
    "Run",
    "RunKind",
    "RunState",
    "SavedRequest",
    "Share",
    "Step",
    "Tracker",
    "TrackerStatus",
    "Twin",
    "Variable",
]
