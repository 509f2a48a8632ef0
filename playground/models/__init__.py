"""Models: agents, collections, runs with their frames, conversations, promises, shares.

Frames are stored verbatim; events and everything else about a response are derived from them.

====================  =========================================================================
`action_servers`      MCP servers and A2A agents that actions are run on
`agents`              agents, their credentials and their targets
`batches`             packing of numbered frames into rows
`clock`               the current time of the database
`collection_runs`     collection runs and their steps
`collections`         collections, folders and saved requests
`conversations`       conversations, branches and session context
`detection`           the connection doctor's report as it is stored with an agent
`environments`        environments and their variables, secrets among them
`fields`              fields that are encrypted in the database
`frames`              frame batches: the rows that hold the frames of a run
`history`             the history of runs: filters, pages, candidates for a comparison
`json_text`           JSON fields that are stored as text
`key_rotation`        encryption of all encrypted columns with another key
`lessons`             progress of a learner in a lesson
`liveness`            detection of runs whose process has died
`mcp_sessions`        sessions of conversations with MCP servers
`ownership`           owners of rows, and which rows a user may see
`promises`            promises that are polled
`queued_work`         requests and plans of runs that wait for a worker
`retention`           limits on the history, one row per owner
`row_problems`        problems of stored rows, which the lists show
`runs`                runs, their states and kinds
`sessions`            sessions of users who are logged in
`shares`              read-only links to runs and collections
`slugs`               slugs made from names, and constraints of columns
`storage`             the quota for an owner's runs, and the limits on rows of other tables
`trash`               rows that keep the time of their deletion, and who does not see them
`twins`               pairs of runs of one request that are compared
====================  =========================================================================
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
from playground.models.retention import Retention
from playground.models.runs import Run, RunKind, RunSource, RunState
from playground.models.shares import Share
from playground.models.storage import LimitError
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
