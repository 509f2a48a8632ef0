"""MCP server made with fastmcp: sessions and the stateless generation, with elicitation."""

import sys
from dataclasses import dataclass

from fastmcp import Context, FastMCP
from fastmcp.utilities.types import Image
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

server = FastMCP("kitchen")
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360f8cf500f00038201808f5f9e1d0000000049454e44ae426082"
)
QUESTION = "When, and for how many?"
SCHEMA = {
    "type": "object",
    "properties": {"day": {"type": "string"}, "guests": {"type": "integer"}},
    "required": ["day", "guests"],
}


@dataclass
class Booking:
    day: str
    guests: int


@server.tool
async def book_in_session(ctx: Context) -> str:
    answer = await ctx.elicit(QUESTION, response_type=Booking)
    if answer.action == "accept":
        return f"Booked for {answer.data.guests} on {answer.data.day}."
    return f"Not booked: {answer.action}."


@server.tool(output_schema=None)
async def book(ctx: Context):
    if not ctx.input_responses:
        form = ElicitRequestFormParams(message=QUESTION, requested_schema=SCHEMA)
        return InputRequiredResult(input_requests={"booking": ElicitRequest(params=form)})
    answer = ctx.input_responses["booking"]
    if answer.action == "accept":
        return f"Booked for {answer.content['guests']} on {answer.content['day']}."
    return f"Not booked: {answer.action}."


@server.tool
async def bake(ctx: Context, loaves: int) -> dict[str, int]:
    for loaf in range(loaves):
        await ctx.report_progress(loaf + 1, loaves, f"Loaf {loaf + 1}")
    return {"loaves": loaves}


@server.tool
def picture() -> Image:
    return Image(data=PIXEL, format="png")


@server.tool
def burn() -> str:
    raise RuntimeError("It burnt.")


server.run(
    transport="http",
    host="127.0.0.1",
    port=int(sys.argv[1]),
    show_banner=False,
    stateless_http="stateless" in sys.argv,
    json_response="json" in sys.argv,
)
