"""A2A agent made with pydantic-ai and fasta2a: a task that has to be asked for."""

import sys

import uvicorn
from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel


def cook(messages, info):
    return ModelResponse(parts=[TextPart("Soup is served.")])


URL = f"http://127.0.0.1:{sys.argv[1]}"
agent = Agent(FunctionModel(cook), name="cook")
app = agent_to_a2a(agent, url=URL, name="Cook", description="Cooks.")
uvicorn.run(app, port=int(sys.argv[1]), log_level="error")
