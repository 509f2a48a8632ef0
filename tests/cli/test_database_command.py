"""Commands without a database: an error that says what to check."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import find_commands, load_command_class
from django.db import DatabaseError, InterfaceError, OperationalError, ProgrammingError
from django.db.backends.utils import CursorWrapper

import playground.management
from playground.cli.database_command import DatabaseCommand, explain
from tests.support.commands import run_command
from tests.support.playground_server import ROOT
from tests.support.servers import free_port

COMMANDS = find_commands(playground.management.__path__[0])
POSTGRESQL = {"HOST": "db.example", "PORT": 5433, "NAME": "play", "PASSWORD": "s3cret"}
SQLITE = {"NAME": "/data/play.sqlite3", "PASSWORD": ""}
REFUSED = "connection failed: connection to server at “10.0.0.1”, port 5433 failed: refused\n\tIs"


def manage(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env={**os.environ, **settings},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.process
@pytest.mark.parametrize("name", ["serve --port 0", "send demo --text soup"])
def test_postgresql_that_is_away(name: str, tmp_path: Path) -> None:
    port = free_port()
    url = f"postgres://ada:s3cret@127.0.0.1:{port}/play"
    done = manage(*name.split(), DATABASE_URL=url, PLAYGROUND_DATA_DIR=str(tmp_path))
    assert done.returncode != 0
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("CommandError: Database error: ")
    assert f"Check that PostgreSQL runs at 127.0.0.1, port {port}" in line
    assert "s3cret" not in line


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_so(name: str) -> None:
    assert isinstance(load_command_class("playground", name), DatabaseCommand)


@pytest.mark.parametrize(
    ("error", "vendor", "settings", "text"),
    [
        (OperationalError(REFUSED), "postgresql", POSTGRESQL,
         "Database error: connection failed: connection to server at “10.0.0.1”, port 5433 failed: "
         "refused. Check that PostgreSQL runs at db.example, port 5433, and the user, the password "
         "and the database in DATABASE_URL."),
        (InterfaceError("the connection is closed"), "postgresql", {"NAME": "play"},
         "Database error: the connection is closed. Check that PostgreSQL runs at a local socket, "
         "and the user, the password and the database in DATABASE_URL."),
        (OperationalError("password s3cret is wrong"), "postgresql", POSTGRESQL,
         "Database error: OperationalError. Check that PostgreSQL runs at db.example, port 5433, "
         "and the user, the password and the database in DATABASE_URL."),
        (OperationalError("database is locked"), "sqlite", SQLITE,
         "Database error: database is locked. Check that /data/play.sqlite3 can be written, that "
         "its disk has space, and that no other process locks it."),
        (ProgrammingError('relation "run" does not exist\nLINE 1'), "postgresql", POSTGRESQL,
         'Database error: relation "run" does not exist.'),
        (DatabaseError("bad value"), "sqlite", SQLITE, "Database error: bad value."),
        (DatabaseError(), "sqlite", SQLITE, "Database error: DatabaseError."),
    ],
)  # fmt: skip
def test_the_text(error: DatabaseError, vendor: str, settings: dict[str, Any], text: str) -> None:
    assert explain(error, vendor, settings) == text


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["send", "run_collection", "doctor"])
def test_the_exit_code(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(CursorWrapper, "execute", fail)
    done = run_command(name, "demo")
    assert (done.returncode, done.stdout) == (3, "")
    assert "CommandError: Database error: database is locked. Check that " in done.stderr
