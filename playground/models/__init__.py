"""What is kept: agents, and runs with their frames. Frames raw, everything else derived."""

from playground.models.agents import Agent
from playground.models.runs import FrameBatch, Run, RunState

__all__ = ["Agent", "FrameBatch", "Run", "RunState"]
