"""The timeout of requests for the database, with a PostgreSQL that accepts and does not respond."""

from __future__ import annotations

import contextvars
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import OperationalError
from django.http import HttpResponse
from django.test import Client

from playground.database_timeout import response_timeout
from playground.database_timeout.base import DatabaseWrapper

#: Short, but longer than psycopg waits before it looks at the clock.
TIMEOUT = 0.2


STATUS = {"server_version": "16.0", "client_encoding": "UTF8", "TimeZone": "UTC"}


class Postgresql:
    """A server that accepts connections, and responds to statements while `responds` is set."""

    def __init__(self) -> None:
        self.responds = threading.Event()
        self.responds.set()
        self.asked = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self.responds.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _serve(self) -> None:
        with self._listening.accept()[0] as client:
            while body := self._read(client, typed=False):
                if int.from_bytes(body[:4], "big") == 196608:  # Version 3.0.
                    break
                client.sendall(b"N")  # No encryption.
            client.sendall(_message(b"R", struct.pack("!i", 0)))
            for name, value in STATUS.items():
                client.sendall(_message(b"S", f"{name}\0{value}\0".encode()))
            client.sendall(_message(b"Z", b"I"))
            while self._read(client, typed=True):
                self.asked.set()
                self.responds.wait()
                try:
                    client.sendall(_message(b"C", b"SET\0") + _message(b"Z", b"I"))
                except ConnectionError:
                    return

    def _read(self, client: socket.socket, *, typed: bool) -> bytes:
        """The body of a message; b"" if the client has gone or says so."""
        kind = client.recv(1) if typed else b"?"
        if kind in (b"", b"X"):
            return b""
        length = client.recv(4, socket.MSG_WAITALL)
        return client.recv(int.from_bytes(length, "big") - 4, socket.MSG_WAITALL) if length else b""


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


@pytest.fixture
def postgresql() -> Iterator[Postgresql]:
    server = Postgresql()
    yield server
    server.close()


@pytest.fixture
def database(
    postgresql: Postgresql, settings: Any, django_db_blocker: Any
) -> Iterator[DatabaseWrapper]:
    """A connection of Django to it."""
    options = {
        **settings.DATABASES["default"], "ENGINE": "playground.database_timeout", "NAME": "play",
        "HOST": "127.0.0.1", "PORT": postgresql.port, "USER": "ada", "PASSWORD": "", "OPTIONS": {},
        "TIME_ZONE": None, "CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": False, "AUTOCOMMIT": True,
    }  # fmt: skip
    database = DatabaseWrapper(options, "default")
    with django_db_blocker.unblock(), database.temporary_connection():
        yield database


def in_request(work: Callable[[], object]) -> None:
    """Do the work as a request does it."""

    def limited() -> None:
        response_timeout.set(TIMEOUT)
        work()

    contextvars.copy_context().run(limited)


def test_a_statement_without_a_response(postgresql: Postgresql, database: DatabaseWrapper) -> None:
    postgresql.responds.clear()
    with pytest.raises(OperationalError, match="PostgreSQL has not responded"):
        in_request(lambda: database.cursor().execute("SET x = 1"))
    assert database.connection.closed


def test_a_statement_with_a_response(database: DatabaseWrapper) -> None:
    in_request(lambda: database.cursor().execute("SET x = 1"))
    assert not database.connection.closed


def test_what_is_no_request_waits(postgresql: Postgresql, database: DatabaseWrapper) -> None:
    """Migrations, pruning and the writer of frames."""
    postgresql.responds.clear()

    def respond() -> None:
        postgresql.asked.wait()
        threading.Event().wait(2 * TIMEOUT)
        postgresql.responds.set()

    thread = threading.Thread(target=respond)
    thread.start()
    database.cursor().execute("SET x = 1")
    thread.join()
    assert not database.connection.closed


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[float | None]:
    """The timeouts of the requests for the history."""
    found: list[float | None] = []

    def view(*_: Any) -> HttpResponse:
        found.append(response_timeout.get())
        return HttpResponse()

    settings.DATABASE_TIMEOUT = 7
    monkeypatch.setattr("playground.views.runs._list", view)
    return found


@pytest.mark.django_db
def test_a_request(client: Client, shown: list[float | None]) -> None:
    client.get("/runs/")
    assert (shown, response_timeout.get()) == ([7], None)
