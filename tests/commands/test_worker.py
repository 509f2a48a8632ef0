"""The command `worker` where it does not start; `tests.qa.scale` has the processes."""

from __future__ import annotations

import socket

import pytest
from django.core.management import CommandError

from playground.management.commands.worker import Command
from tests.support.commands import run_command

pytestmark = pytest.mark.django_db(transaction=True)


def test_without_postgresql_and_redis() -> None:
    done = run_command("worker")
    assert done.returncode == 2
    assert "Workers need PostgreSQL and Redis: set DATABASE_URL and REDIS_URL" in done.stderr


@pytest.mark.parametrize("number", ["0", "-1", "many", "100000", "1.5", "²"])
def test_a_concurrency_that_is_none(number: str) -> None:
    done = run_command("worker", "--concurrency", number)
    assert done.returncode == 2
    assert "is not an integer from 1 to 99,999" in done.stderr


def test_metrics_on_a_port_that_is_in_use() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=rf"Cannot listen on 127\.0\.0\.1, port {port}"):
            Command()._metrics("127.0.0.1", port).__enter__()
    with pytest.raises(CommandError, match="port 65536"):
        Command()._metrics("127.0.0.1", 65536).__enter__()
