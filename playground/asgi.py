"""The ASGI application: pages through Django, websockets through Channels."""

from __future__ import annotations

import gc
import os
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")
django_application = get_asgi_application()

# Models can be imported only after Django is set up.
from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402

from playground import engine  # noqa: E402
from playground.engine.housekeeping import start_pruning  # noqa: E402
from playground.models.liveness import mark_interrupted  # noqa: E402
from playground.origins import SameOriginValidator  # noqa: E402
from playground.routing import websocket_urlpatterns  # noqa: E402

# Runs that a dead process left behind are told apart from runs that are under way.
mark_interrupted()

# Python looks for cycles after every 700 objects more, all the older ones again now and then. An
# import or a page of a long history makes hundreds of thousands, and none of them is in a cycle:
# a third of its time went into looking.
gc.set_threshold(10_000)

_router = ProtocolTypeRouter(
    {
        "http": django_application,
        "websocket": SameOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Serve one connection. With the first one, promises that are due are followed again.

    So are the limits on the history. `manage.py serve` does not wait for it; under another server
    there is no earlier moment.
    """
    engine.start_promise_poller()
    start_pruning()
    await _router(scope, receive, send)
