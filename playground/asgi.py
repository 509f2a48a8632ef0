"""ASGI application: pages through Django, WebSockets through Channels.

The routes of the WebSockets and the check of their origin are here as well. Import this module
only where the database is migrated: it marks the runs of dead processes as interrupted.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.http.request import split_domain_port, validate_host
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")
django_application = get_asgi_application()

# Models can be imported only after Django is set up.
from channels.auth import AuthMiddleware  # noqa: E402
from channels.generic.websocket import AsyncWebsocketConsumer  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import WebsocketDenier  # noqa: E402
from channels.sessions import CookieMiddleware, SessionMiddleware  # noqa: E402

from playground.base import tracing  # noqa: E402
from playground.base.executors import limit_responses  # noqa: E402
from playground.engine import process  # noqa: E402
from playground.live.consumers import (  # noqa: E402
    CollectionRunConsumer,
    RunConsumer,
    SharedRunConsumer,
)
from playground.models.driving import mark_interrupted  # noqa: E402
from playground.server.admission import Admission  # noqa: E402
from playground.server.startup import tune_garbage_collection  # noqa: E402

#: The mapping of ASGI, with what the middleware of Channels adds.
Scope = Any
Application = Callable[[Scope, Any, Any], Awaitable[Any]]


def _route(url: str, consumer: type[AsyncWebsocketConsumer]) -> Any:
    """Return the route to a consumer. The annotations of `path` permit views only."""
    application: Any = consumer.as_asgi()
    return path(url, application)


websocket_urlpatterns = [
    _route("ws/runs/<uuid:pk>/", RunConsumer),
    _route("ws/shares/<str:token>/", SharedRunConsumer),
    _route(
        "ws/collection-runs/<uuid:pk>/<slug:show>/<int:page>/<str:known>/", CollectionRunConsumer
    ),
]


class LimitedAuthMiddleware(AuthMiddleware):
    """Middleware that reads the user of a WebSocket, and waits for the database as a page does."""

    async def resolve_scope(self, scope: Scope) -> None:
        """Set the user. Raises `OperationalError` when the database does not respond."""
        with limit_responses():
            await super().resolve_scope(scope)


class SameOriginValidator:
    """Middleware that denies a WebSocket whose Origin is not exactly the site's.

    Browsers do not apply the same-origin policy to WebSockets, so without this any page
    could read a local playground. It fails closed: without an Origin header the connection
    is denied.
    """

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> Any:
        if is_same_origin(scope):
            return await self.application(scope, receive, send)
        return await WebsocketDenier()(scope, receive, send)


def is_same_origin(scope: Scope) -> bool:
    """Return whether the Origin header has the scheme, host and port that was connected to."""
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    origin = headers.get(b"origin", "").lower()
    host = headers.get(b"host", "").lower()
    domain, _ = split_domain_port(host)
    if not origin or not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    secure = scope.get("scheme") == "wss"
    if proxied := settings.SECURE_PROXY_SSL_HEADER:
        name = proxied[0].removeprefix("HTTP_").replace("_", "-").lower().encode()
        secure = secure or headers.get(name) == proxied[1]
    expected = f"{'https' if secure else 'http'}://{host}"
    return bool(origin == expected)


# Runs that a dead process left behind are interrupted, and not in progress.
mark_interrupted()

tune_garbage_collection()
# Importing the packages takes longer than a page may wait.
tracing.prepare()

_websockets = LimitedAuthMiddleware(URLRouter(websocket_urlpatterns))
_router = ProtocolTypeRouter(
    {
        "http": django_application,
        "websocket": SameOriginValidator(CookieMiddleware(SessionMiddleware(_websockets))),
    }
)


async def _serve(scope: Any, receive: Any, send: Any) -> None:
    """Serve one connection; the first one starts the background tasks of a server.

    `manage.py serve` starts them itself; under another server there is no earlier moment.
    """
    process.start_background_tasks()
    await _router(scope, receive, send)


application = Admission(_serve)
