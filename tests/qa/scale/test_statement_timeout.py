"""The timeout of statements in PostgreSQL."""

from __future__ import annotations

import contextlib

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connection

pytestmark = pytest.mark.django_db(transaction=True)


def timeout() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        found: str = cursor.fetchone()[0]
    return found


def test_of_every_connection_and_none_of_migrations() -> None:
    connection.close()
    assert timeout() == f"{settings.DATABASE_TIMEOUT}s"
    call_command("migrate", verbosity=0)
    assert timeout() == "0"
    connection.close()


def test_a_statement_that_takes_longer_is_an_unavailable_database() -> None:
    with contextlib.closing(connection.copy()) as other, other.cursor() as cursor:
        cursor.execute("SET statement_timeout = 1")
        with pytest.raises(OperationalError, match="statement timeout"):
            cursor.execute("SELECT pg_sleep(20)")
