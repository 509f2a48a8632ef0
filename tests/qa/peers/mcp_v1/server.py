"""MCP server made with the official package, version 1: sessions, with elicitation in mid-call."""

import json
import sys

from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel

server = FastMCP(
    "recipes",
    host="127.0.0.1",
    port=int(sys.argv[1]),
    stateless_http="stateless" in sys.argv,
    json_response="json" in sys.argv,
)
META = {"response_type": "answer", "version": "0.55"}


class Wishes(BaseModel):
    diet: str
    guests: int


@server.tool()
async def ask(query: dict, meta: dict | None = None) -> str:
    results = [{"@type": "Recipe", "name": f"Soup with {query['text']}"}]
    return json.dumps({"_meta": META, "results": results})


@server.tool()
async def book(ctx: Context) -> str:
    answer = await ctx.elicit("For whom?", Wishes)
    if answer.action == "accept":
        return f"Booked: {answer.data.diet}, {answer.data.guests}."
    return f"Not booked: {answer.action}."


server.run(transport="streamable-http")
