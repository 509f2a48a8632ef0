"""ASGI servers of `manage.py serve`; each module has the function `run`.

On Linux the operating system closes a connection whose client reads nothing. Clients that send
slowly, or large bodies, are the business of a proxy: see deploy/nginx/playground.conf.
"""

from __future__ import annotations

import socket


def close_unread(listener: socket.socket, seconds: int) -> None:
    """Close the connections that `listener` accepts once their client has read nothing so long."""
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * seconds)
