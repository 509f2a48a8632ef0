"""Agent API server made with agentscope-runtime: text in pieces, and a failure."""

import sys

from agentscope.message import Msg
from agentscope_runtime.engine import AgentApp

app = AgentApp(app_name="Cook", app_description="Cooks.")


@app.query(framework="agentscope")
async def query(self, msgs, request=None, **kwargs):
    text = msgs[-1].get_text_content() if msgs else ""
    if text == "burn":
        raise RuntimeError("It burnt.")
    said = ""
    for piece in ("Soup", " is ", "served."):
        said += piece
        yield Msg("cook", said, "assistant"), piece == "served."


app.run(host="127.0.0.1", port=int(sys.argv[1]))
