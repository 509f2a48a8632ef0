"""Encrypted fields and key rotation."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core import serializers
from django.core.management import CommandError, call_command
from django.db import connection

from playground.base.private_files import decryption_keys, read_or_create_key
from playground.management.commands import rotate_key
from playground.models import Agent, Environment, Variable
from playground.models.key_rotation import rotate

pytestmark = [pytest.mark.django_db, pytest.mark.database]


HEADERS = [["X-API-Key", "canary"], ["X-Plain", "ünï 🍳"]]


def stored(column: str = "auth_secret") -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {column} FROM playground_agent")
        return cursor.fetchone()[0]


def make(**fields: Any) -> Agent:
    return Agent.objects.create(**{"name": "A", "url": "http://a.example", **fields})


@pytest.mark.parametrize(
    ("column", "value", "parts"),
    [
        *(("auth_secret", text, [text]) for text in ("canary", "ünï 🍳", " spaces ", "x" * 10_000)),
        ("headers", HEADERS, ["canary", "X-API-Key", "X-Plain"]),
    ],
)
def test_a_value_comes_back_and_the_database_never_sees_it(
    column: str, value: Any, parts: list[str]
) -> None:
    make(**{column: value})
    for _ in range(2):
        for part in parts:
            assert part not in stored(column)
            assert base64.b64encode(part.encode()).decode() not in stored(column)
        assert getattr(Agent.objects.get(), column) == value
        Agent.objects.update(**{column: value})  # That encrypts, too.


def test_the_same_secret_is_never_stored_alike() -> None:
    make(auth_secret="same")
    first = stored()
    Agent.objects.update(auth_secret="same")
    assert stored() != first


def test_no_value_is_empty() -> None:
    """No two rows have the same list."""
    for name in ("A", "B"):
        make(name=name)
    assert (stored(), stored("headers")) == ("", "")
    first, second = Agent.objects.all()
    first.headers.append(["X-A", "1"])
    assert (second.auth_secret, second.headers) == ("", [])


def test_another_key_reads_nothing(settings: Any) -> None:
    make(auth="bearer", auth_secret="canary", headers=HEADERS)
    settings.PLAYGROUND_KEY = "another key"
    agent = Agent.objects.get()
    assert (agent.auth_secret, agent.auth_headers(), agent.headers) == ("", [], [])


@pytest.mark.parametrize("garbage", ["garbage", "gAAAAA==", "ü", "=" * 40])
def test_garbage_reads_as_nothing(garbage: str) -> None:
    make()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE playground_agent SET auth_secret = %s", [garbage])
    assert Agent.objects.get().auth_secret == ""


@pytest.mark.parametrize(
    ("fields", "headers"),
    [
        ({}, []),
        ({"auth": "bearer"}, []),
        ({"auth": "bearer", "auth_secret": "t"}, [("Authorization", "Bearer t")]),
        ({"auth": "api_key", "auth_secret": "k"}, [("X-API-Key", "k")]),
        ({"auth": "api_key", "auth_secret": "k", "auth_header": "X-K"}, [("X-K", "k")]),
        (
            {"auth": "basic", "auth_user": "ada", "auth_secret": "pä"},
            [("Authorization", "Basic " + base64.b64encode("ada:pä".encode()).decode())],
        ),
        ({"auth": "basic", "auth_user": "ada"}, [("Authorization", "Basic YWRhOg==")]),
    ],
)
def test_what_authenticates(fields: dict[str, str], headers: list[tuple[str, str]]) -> None:
    assert Agent(name="A", url="http://a.example", **fields).auth_headers() == headers


def test_fixtures_bring_plain_lists_and_are_written_without(tmp_path: Path) -> None:
    fields = {"name": "A", "slug": "a", "url": "http://a.example", "headers": HEADERS,
              "created_at": "2026-01-01T00:00:00Z"}  # fmt: skip
    fixture = tmp_path / "agents.json"
    fixture.write_text(json.dumps([{"model": "playground.agent", "fields": fields}]))
    call_command("loaddata", str(fixture), verbosity=0)
    assert Agent.objects.get().headers == HEADERS
    assert "canary" not in stored("headers")
    dumped = json.loads(serializers.serialize("json", Agent.objects.all()))
    assert dumped[0]["fields"]["headers"] == []


def test_dumped_data_holds_nothing_that_is_encrypted() -> None:
    agent = make(auth="bearer", auth_secret="canary", headers=HEADERS)
    agent.save_handshake({"session": "canary"})
    environment = Environment.objects.create(name="E")
    Variable.objects.create(environment=environment, name="v", kind="secret", secret="canary")
    out = io.StringIO()
    call_command("dumpdata", "playground", stdout=out)
    assert '"name": "v"' in out.getvalue()
    assert "canary" not in out.getvalue()


def write() -> None:
    make(auth_secret="canary", headers=HEADERS)
    environment = Environment.objects.create(name="E")
    Variable.objects.create(environment=environment, name="v", kind="secret", secret="dove")


@pytest.fixture
def directory(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory with a key, with which three values are encrypted."""
    monkeypatch.delenv("PLAYGROUND_KEY", raising=False)
    settings.DATA_DIR = tmp_path
    settings.PLAYGROUND_KEY = read_or_create_key(tmp_path / "encryption-key")
    settings.PLAYGROUND_OTHER_KEYS = []
    write()
    return tmp_path


class TestRotation:
    def read(self) -> tuple[str, Any, str]:
        agent, variable = Agent.objects.get(), Variable.objects.get()
        return agent.auth_secret, agent.headers, variable.secret

    def test_the_new_key_reads_everything_and_the_old_one_nothing(
        self, settings: Any, directory: Path
    ) -> None:
        old = settings.PLAYGROUND_KEY
        out = io.StringIO()
        call_command("rotate_key", stdout=out)
        assert "3 values" in out.getvalue()
        assert self.read() == ("", [], "")
        path = directory / "encryption-key"
        settings.PLAYGROUND_KEY = path.read_text().strip()
        assert old != settings.PLAYGROUND_KEY
        assert path.stat().st_mode & 0o777 == 0o600
        previous = directory / "encryption-key.previous"
        assert sorted(directory.iterdir()) == [path, previous]
        assert self.read() == ("canary", HEADERS, "dove")
        assert previous.read_text().strip() == old
        assert previous.stat().st_mode & 0o777 == 0o600

    def test_what_a_process_wrote_that_was_not_stopped_can_be_read(
        self, settings: Any, directory: Path
    ) -> None:
        path = directory / "encryption-key"
        for expected in ("written late", "written later"):
            call_command("rotate_key", stdout=io.StringIO())
            Agent.objects.update(auth_secret=expected)
            settings.PLAYGROUND_KEY = path.read_text().strip()
            settings.PLAYGROUND_OTHER_KEYS = decryption_keys({}, path)
            assert self.read() == (expected, HEADERS, "dove")

    def test_one_that_was_interrupted_reads_on_and_is_finished_later(
        self, settings: Any, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = directory / "encryption-key"
        with monkeypatch.context() as patch:
            patch.setattr(rotate_key, "replace_key", interrupted)
            with pytest.raises(OSError, match="gone"):
                call_command("rotate_key", stdout=io.StringIO())
        # As it starts now: the old key is in place, the new one beside it.
        settings.PLAYGROUND_OTHER_KEYS = decryption_keys({}, path)
        assert self.read() == ("canary", HEADERS, "dove")
        Agent.objects.update(auth_secret="written since")
        call_command("rotate_key", stdout=io.StringIO())
        settings.PLAYGROUND_KEY, settings.PLAYGROUND_OTHER_KEYS = path.read_text().strip(), []
        assert self.read() == ("written since", HEADERS, "dove")

    def test_what_no_key_reads_stays(self, settings: Any, directory: Path) -> None:
        lost, settings.PLAYGROUND_KEY = settings.PLAYGROUND_KEY, "another key"
        out = io.StringIO()
        call_command("rotate_key", stdout=out)
        assert "3 could not be decrypted" in out.getvalue()
        settings.PLAYGROUND_KEY = lost
        assert self.read() == ("canary", HEADERS, "dove")

    def test_a_key_of_the_environment_is_replaced_there(
        self, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.PLAYGROUND_KEY = "old"
        write()
        monkeypatch.setenv("PLAYGROUND_KEY", "new")
        monkeypatch.delenv("PLAYGROUND_OLD_KEY", raising=False)
        with pytest.raises(CommandError, match="PLAYGROUND_OLD_KEY"):
            call_command("rotate_key")
        monkeypatch.setenv("PLAYGROUND_OLD_KEY", "old")
        settings.PLAYGROUND_KEY, settings.PLAYGROUND_OTHER_KEYS = "new", ["old"]
        call_command("rotate_key", stdout=io.StringIO())
        settings.PLAYGROUND_OTHER_KEYS = []
        assert self.read() == ("canary", HEADERS, "dove")


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_the_old_key_goes_when_what_the_new_one_wrote_is_on_the_disk(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the two a machine may lose its power."""
    levels: list[int] = []

    def level() -> int:
        with connection.cursor() as cursor:
            return int(cursor.execute("PRAGMA synchronous").fetchone()[0])

    def noting(*given: Any) -> Any:
        levels.append(level())
        return rotate(*given)

    monkeypatch.setattr(rotate_key, "rotate", noting)
    before = level()
    call_command("rotate_key", stdout=io.StringIO())
    assert levels == [2]  # FULL: a commit returns when it is on the disk
    assert level() == before


def interrupted(path: Path) -> None:
    raise OSError("gone")
