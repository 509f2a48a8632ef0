"""MCP servers made with the official package, on free ports: what the engine is held against.

    with serving(Recipes(asks=True), generation="initialize") as url:
        ...

The package's servers speak both generations; `generation` makes one deaf to the other.
"""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import AnyHttpUrl, BaseModel, Field
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.support.servers import free_port
from tests.support.uvicorn_server import serving_asgi

MODERN = "2026-07-28"
TOKEN = "a-token-of-thirty-two-characters"

RESULTS = [
    {"@type": "Recipe", "name": "Veggie-Packed Scrambled Eggs", "cookTime": "PT15M"},
    {"@type": "Recipe", "name": "Crème brûlée 🥚", "cookTime": "PT45M"},
]


class Wishes(BaseModel):
    """What the server asks its user."""

    diet: str = Field(
        description="What is left out.", json_schema_extra={"enum": ["vegan", "vegetarian", "none"]}
    )
    guests: int = Field(ge=1, le=12, title="How many guests?")


@dataclass
class Recipes:
    """What the server's tools do."""

    #: Whether it asks before it answers.
    asks: bool = False
    #: The bearer token it wants, "" for none.
    token: str = ""
    #: Names of the two tools.
    names: tuple[str, str] = ("ask", "await")
    #: What became of its questions: the actions, and what was filled in.
    heard: list[tuple[str, Any]] = field(default_factory=list)

    def server(self, port: int) -> MCPServer[Any]:
        """The server with its tools."""
        url = AnyHttpUrl(f"http://127.0.0.1:{port}/mcp")
        secured: dict[str, Any] = {}
        if self.token:
            auth = AuthSettings(
                issuer_url=AnyHttpUrl("https://login.example.com"),
                resource_server_url=url,
                required_scopes=["recipes"],
                validate_token_resource=False,
            )
            secured = {"auth": auth, "token_verifier": _Verifier(self.token)}
        server: MCPServer[Any] = MCPServer(
            "recipes", version="1.0", instructions="Recipes for every day.", **secured
        )
        server.add_tool(self.ask, name=self.names[0], structured_output=False)
        server.add_tool(self.wait, name=self.names[1], structured_output=False)
        server.add_tool(self.break_down, name="break")
        return server

    async def ask(
        self,
        query: dict[str, Any],
        ctx: Context[Any, Any],
        context: dict[str, Any] | None = None,
        prefer: dict[str, Any] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Any:
        """Query the recipe agent using natural language."""
        if self.asks:
            asked = await self._wishes(ctx)
            if isinstance(asked, InputRequiredResult):
                return asked
        await ctx.report_progress(1, 2, "Looking through the recipes")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            await ctx.info({"found": len(RESULTS)}, logger_name="kitchen")
        answered = {"response_type": "answer", "version": "0.55"}
        results = RESULTS if not self.heard else [{**RESULTS[0], "for": self.heard[-1]}]
        return json.dumps({"_meta": {**answered, "text": query.get("text")}, "results": results})

    async def wait(
        self, promise_token: str, action: str, meta: dict[str, Any] | None = None
    ) -> str:
        """Check status or cancel a long-running promise."""
        failed = {"_meta": {"response_type": "failure"}, "error": {"code": "CANCELLED"}}
        return json.dumps(failed)

    async def break_down(self) -> str:
        """A tool that fails."""
        raise ValueError("The oven is cold.")

    async def _wishes(self, ctx: Context[Any, Any]) -> InputRequiredResult | None:
        """Ask the user, the way that the generation of the request has."""
        message = "Who is coming?"
        if ctx.protocol_version == MODERN:
            if not (responses := ctx.input_responses):
                params = ElicitRequestFormParams(
                    message=message, requested_schema=Wishes.model_json_schema()
                )
                request = ElicitRequest(params=params)
                return InputRequiredResult(input_requests={"wishes": request})
            answer: Any = responses["wishes"]
            self.heard.append((answer.action, answer.content))
            return None
        result = await ctx.elicit(message, Wishes)
        data = result.data.model_dump() if result.action == "accept" else None
        self.heard.append((result.action, data))
        return None


class _Verifier:
    def __init__(self, token: str) -> None:
        self._token = token

    async def verify_token(self, token: str) -> AccessToken | None:
        if token != self._token:
            return None
        return AccessToken(token=token, client_id="playground", scopes=["recipes"])


@contextlib.contextmanager
def serving(
    recipes: Recipes, *, json_response: bool = False, generation: str = "", port: int = 0
) -> Iterator[str]:
    """The address of a server in a thread.

    `generation` is "initialize" for one as they were before 2026-07-28, "" for one of both.
    """
    port = port or free_port()
    app: ASGIApp = recipes.server(port).streamable_http_app(json_response=json_response)
    if generation == "initialize":
        app = _Older(app)
    with serving_asgi(app, port):
        yield f"http://127.0.0.1:{port}/mcp"


@contextlib.contextmanager
def serving_http_sse() -> Iterator[str]:
    """The address of a server with the transport before streamable HTTP."""
    port = free_port()
    with serving_asgi(Recipes().server(port).sse_app(), port):
        yield f"http://127.0.0.1:{port}/sse"


class _Older:
    """Answers requests of the newer generation as servers did that did not know it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        version = dict(scope.get("headers", ())).get(b"mcp-protocol-version", b"").decode()
        if version != MODERN:
            await self._app(scope, receive, send)
            return
        error = {"code": -32600, "message": f"Bad Request: Unsupported protocol version: {version}"}
        body = json.dumps({"jsonrpc": "2.0", "id": "server-error", "error": error}).encode()
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 400, "headers": headers})
        await send({"type": "http.response.body", "body": body})
