"""Who may open a websocket: pages of this very origin, and nobody else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host

Scope = dict[str, Any]
Application = Callable[[Scope, Any, Any], Awaitable[Any]]


class SameOriginValidator:
    """Refuses a websocket whose Origin is not exactly the site's: scheme, host and port.

    Browsers do not apply the same-origin policy to websockets, so without this any page
    could read a local playground. It fails closed: no Origin, no socket.
    """

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> Any:
        """Pass the connection on, or deny it."""
        if is_same_origin(scope):
            return await self.application(scope, receive, send)
        denier: Application = WebsocketDenier()
        return await denier(scope, receive, send)


def is_same_origin(scope: Scope) -> bool:
    """Whether the scope's Origin header names the host that the socket was opened to."""
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
