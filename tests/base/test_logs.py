"""Log lines: text and JSON, and the ids of what the code works for."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from playground.base.logs import JSONFormatter, TextFormatter, log_context, process_kind

RUN = UUID("1234abcd-0000-4000-8000-000000000000")
COLLECTION_RUN = UUID("5678abcd-0000-4000-8000-000000000000")


def record(message: str = "It failed: %s", *args: Any, **options: Any) -> logging.LogRecord:
    made = logging.LogRecord(
        "playground.engine.driver", logging.WARNING, __file__, 1, message, args or ("why",), None
    )
    made.created, made.msecs = 1_700_000_000.25, 250.0
    vars(made).update(options)
    return made


def parsed(made: logging.LogRecord) -> dict[str, Any]:
    line = JSONFormatter().format(made)
    assert "\n" not in line
    return json.loads(line)


class TestText:
    def test_outside_of_a_run(self) -> None:
        line = TextFormatter().format(record())
        assert line.endswith(",250 WARNING playground.engine.driver: It failed: why")

    def test_within_a_run(self) -> None:
        with log_context(run=RUN):
            line = TextFormatter().format(record())
        assert line.endswith(" playground.engine.driver: [run 1234abcd] It failed: why")
        assert "[run" not in TextFormatter().format(record())

    def test_within_a_step_of_a_collection_run(self) -> None:
        with log_context(collection_run=COLLECTION_RUN), log_context(run=RUN):
            line = TextFormatter().format(record())
        assert "[collection run 5678abcd] [run 1234abcd] It failed" in line


class TestJSON:
    def test_outside_of_a_run(self) -> None:
        found = parsed(record())
        assert found == {
            "time": "2023-11-14T22:13:20.250Z",
            "level": "WARNING",
            "logger": "playground.engine.driver",
            "message": "It failed: why",
            "process": process_kind(sys.argv),
            "pid": os.getpid(),
        }
        assert datetime.fromisoformat(found["time"]) == datetime.fromtimestamp(
            1_700_000_000.25, UTC
        )

    def test_within_a_run(self) -> None:
        with log_context(run=RUN):
            assert parsed(record())["run"] == str(RUN)
        with log_context(collection_run=COLLECTION_RUN):
            found = parsed(record())
        assert (found["collection_run"], found.get("run")) == (str(COLLECTION_RUN), None)

    def test_an_exception(self) -> None:
        try:
            raise ValueError("two\nlines")
        except ValueError:
            found = parsed(record(exc_info=sys.exc_info()))
        assert found["exception"].startswith("Traceback (most recent call last):")
        assert found["exception"].endswith("ValueError: two\nlines")

    def test_any_text(self) -> None:
        assert parsed(record("%s", 'a "b"\n\udcff ü'))["message"] == 'a "b"\n\udcff ü'


async def test_tasks_inherit_the_ids_and_others_do_not() -> None:
    async def line() -> str:
        return TextFormatter().format(record())

    with log_context(run=RUN):
        inherited = asyncio.create_task(line())
    assert "[run 1234abcd]" in await inherited
    assert "[run" not in await asyncio.create_task(line())


@pytest.mark.parametrize(
    ("argv", "kind"),
    [
        (["manage.py", "serve", "--port", "1"], "web"),
        (["/x/manage.py", "runserver"], "web"),
        (["/usr/bin/nlweb-playground"], "web"),
        (["nlweb-playground", "--port", "8001"], "web"),
        (["/x/playground/__main__.py", "worker"], "worker"),
        (["manage.py", "worker"], "worker"),
        (["manage.py", "send", "demo"], "command"),
        (["/usr/bin/uvicorn", "playground.asgi:application"], "web"),
        (["/usr/bin/gunicorn", "worker"], "web"),
        ([], "web"),
    ],
)
def test_the_kind_of_a_process(argv: list[str], kind: str) -> None:
    assert process_kind(argv) == kind
