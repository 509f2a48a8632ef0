"""Settings from the environment: limits, keys, modes, storage; and the system checks."""

from __future__ import annotations

import errno
import os
import runpy
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from logging.config import DictConfigurator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest

import playground
from playground.base import private_files
from playground.base.limits import RunLimits
from playground.base.logs import JSONFormatter, TextFormatter
from playground.base.private_files import read_or_create_key
from playground.site.sidebar import page_context
from tests.support.playground_server import PlaygroundServer

ROOT = Path(__file__).parent.parent


class TestLimits:
    @pytest.mark.parametrize("field", fields(RunLimits), ids=lambda field: field.name)
    def test_each_has_its_variable(self, field: Any) -> None:
        name = f"PLAYGROUND_{field.name.upper()}"
        assert getattr(RunLimits.from_environment({name: " 7 "}), field.name) == 7
        assert RunLimits.from_environment({name: ""}) == RunLimits()
        for wrong in ("0", "-1", "many", "1,5"):
            with pytest.raises(ValueError, match=name):
                RunLimits.from_environment({name: wrong})

    @pytest.mark.parametrize("wrong", ["nan", "inf", "-inf", "1e999"])
    def test_numbers_that_limit_nothing(self, wrong: str) -> None:
        with pytest.raises(ValueError, match="PLAYGROUND_TOTAL_TIMEOUT"):
            RunLimits.from_environment({"PLAYGROUND_TOTAL_TIMEOUT": wrong})

    def test_seconds_may_have_parts_and_counts_may_not(self) -> None:
        assert RunLimits.from_environment({"PLAYGROUND_IDLE_TIMEOUT": "0.5"}).idle_timeout == 0.5
        with pytest.raises(ValueError, match="PLAYGROUND_MAX_RUNS"):
            RunLimits.from_environment({"PLAYGROUND_MAX_RUNS": "2.5"})

    @pytest.mark.parametrize(
        ("bounds", "lowered"),
        [
            ({}, {}),
            ({"max_bytes": 5, "total_timeout": 0.5}, {"max_bytes": 5, "total_timeout": 0.5}),
            ({"max_bytes": 10**12}, {}),
        ],
    )
    def test_bounds_lower_them_and_never_raise_them(self, bounds: Any, lowered: Any) -> None:
        assert RunLimits().at_most(**bounds) == replace(RunLimits(), **lowered)


class TestKeys:
    def test_made_once_and_for_its_owner_only(self, tmp_path: Path) -> None:
        path = tmp_path / "new" / "key"
        key = read_or_create_key(path)
        assert len(key) >= 50
        assert read_or_create_key(path) == key
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert list(path.parent.iterdir()) == [path]

    def test_whoever_comes_second_reads_the_first_ones(self, tmp_path: Path) -> None:
        path = tmp_path / "key"
        barrier = threading.Barrier(16)

        def start(_: int) -> str:
            barrier.wait()
            return read_or_create_key(path)

        with ThreadPoolExecutor(16) as pool:
            assert len(set(pool.map(start, range(16)))) == 1
        assert list(tmp_path.iterdir()) == [path]

    def test_a_key_that_its_owner_wrote(self, tmp_path: Path) -> None:
        (tmp_path / "key").write_text("  mine\n")
        assert read_or_create_key(tmp_path / "key") == "mine"

    def test_a_key_that_is_there_is_only_read(self, tmp_path: Path) -> None:
        (tmp_path / "key").write_text("mine")
        tmp_path.chmod(0o500)
        before = tmp_path.stat().st_mtime_ns
        try:
            assert read_or_create_key(tmp_path / "key") == "mine"
        finally:
            tmp_path.chmod(0o700)
        assert tmp_path.stat().st_mtime_ns == before

    @pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP])
    def test_a_file_system_without_hard_links(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
    ) -> None:
        def refuse(*_: object) -> None:
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(os, "link", refuse)
        for name, check in (
            ("one", self.test_made_once_and_for_its_owner_only),
            ("many", self.test_whoever_comes_second_reads_the_first_ones),
        ):
            (tmp_path / name).mkdir()
            check(tmp_path / name)

    def test_an_empty_key_is_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(private_files, "WRITE_TIMEOUT", 0)
        (tmp_path / "key").write_text("\n")
        with pytest.raises(ValueError, match="key is empty"):
            read_or_create_key(tmp_path / "key")


def read_settings(tmp_path: Path, **environment: str) -> SimpleNamespace:
    """The settings as they are read from an environment with these variables and no others."""
    given = {"PLAYGROUND_DATA_DIR": str(tmp_path), **environment}
    with mock.patch.dict(os.environ, given, clear=True):
        return SimpleNamespace(**runpy.run_path(str(ROOT / "playground" / "settings.py")))


HOSTED = {"PLAYGROUND_MODE": "hosted", "SECRET_KEY": "k"}
#: Variables, and settings that they lead to.
VALUES: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "local": ({}, {
        "HOSTED": False, "DEMO_ENABLED": True, "AGENT_IMAGES": True, "PROMISE_PATIENCE": 900,
        "ALLOWED_HOSTS": ["127.0.0.1", "localhost", "[::1]"], "QUOTA": 0, "RETENTION_DAYS": 0,
        "METRICS": True, "TRACEPARENT": False, "SESSION_COOKIE_NAME": "playground_session",
        "CSRF_COOKIE_NAME": "playground_csrf",
    }),
    "hosted": ({**HOSTED, "ALLOWED_HOSTS": " a.example, ,b "}, {
        "HOSTED": True, "DEMO_ENABLED": False, "AGENT_IMAGES": False, "SECRET_KEY": "k",
        "SESSION_COOKIE_SECURE": True, "CSRF_COOKIE_SECURE": True,
        "ALLOWED_HOSTS": ["a.example", "b"], "QUOTA": 1024**3, "RETENTION_DAYS": 90,
        "METRICS": False,
    }),
    "hosted, with others": (
        {**HOSTED, "PLAYGROUND_QUOTA": "0", "PLAYGROUND_RETENTION_DAYS": " 7 ",
         "PLAYGROUND_METRICS": "on"},
        {"QUOTA": 0, "RETENTION_DAYS": 7, "METRICS": True},
    ),
    "local, with others": (
        {"PLAYGROUND_PROMISE_PATIENCE": " 7 ", "PLAYGROUND_TRACEPARENT": "1"},
        {"PROMISE_PATIENCE": 7, "TRACEPARENT": True},
    ),
}  # fmt: skip


class TestModes:
    @pytest.mark.parametrize(
        ("environment", "message"),
        [
            ({"PLAYGROUND_MODE": "cloud"}, "PLAYGROUND_MODE must be local or hosted"),
            ({"PLAYGROUND_MODE": "hosted"}, "SECRET_KEY must be set"),
            ({"DEBUG": "maybe"}, "DEBUG must be true or false"),
            ({"PLAYGROUND_DEMO": "2"}, "PLAYGROUND_DEMO must be true or false"),
            ({"PLAYGROUND_MAX_FRAMES": "x"}, "PLAYGROUND_MAX_FRAMES must be a number"),
            ({"PLAYGROUND_METRICS": "2"}, "PLAYGROUND_METRICS must be true or false"),
            ({"PLAYGROUND_TRACEPARENT": "x"}, "PLAYGROUND_TRACEPARENT must be true or false"),
            ({"PLAYGROUND_LOG_FORMAT": "xml"}, "PLAYGROUND_LOG_FORMAT must be text or json, not"),
            ({"PLAYGROUND_QUOTA": "1 GB"}, "PLAYGROUND_QUOTA must be a whole number"),
            ({"PLAYGROUND_RETENTION_DAYS": "-1"}, "PLAYGROUND_RETENTION_DAYS must be a whole"),
            (
                {"PLAYGROUND_PROMISE_PATIENCE": "0"},
                "PLAYGROUND_PROMISE_PATIENCE must be a whole number of seconds",
            ),
        ],
    )
    def test_mistakes_name_the_variable(
        self, tmp_path: Path, environment: dict[str, str], message: str
    ) -> None:
        with pytest.raises((ImproperlyConfigured, ValueError), match=message):
            read_settings(tmp_path, **environment)

    @pytest.mark.parametrize(("environment", "expected"), VALUES.values(), ids=VALUES)
    def test_values(
        self, tmp_path: Path, environment: dict[str, str], expected: dict[str, Any]
    ) -> None:
        found = read_settings(tmp_path, **environment)
        assert {name: getattr(found, name) for name in expected} == expected
        assert (getattr(found, "SECURE_HSTS_SECONDS", 0) > 0) is found.HOSTED
        # Django's own choice sets a cookie without a name of its own.
        assert "session" in found.MESSAGE_STORAGE
        # Whether pictures of agents are shown or not, pages load none from elsewhere.
        sources = found.CONTENT_SECURITY_POLICY["DIRECTIVES"]["img-src"]
        assert sources == ["'self'", "data:"]
        if not found.HOSTED:
            assert (tmp_path / "secret-key").read_text().strip() == found.SECRET_KEY
            assert found.PLAYGROUND_KEY != found.SECRET_KEY

    @pytest.mark.parametrize("reason", ["Not a directory", "it is read-only"])
    def test_a_data_folder_that_cannot_be_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
    ) -> None:
        folder = tmp_path / "data"
        if reason == "Not a directory":
            tmp_path.joinpath("file").touch()
            folder = tmp_path / "file" / "data"
        else:
            folder.mkdir()
            monkeypatch.setattr(os, "access", lambda *_: False)  # Root may write everywhere.
        with pytest.raises(ImproperlyConfigured) as error:
            read_settings(tmp_path, PLAYGROUND_DATA_DIR=str(folder))
        assert str(error.value) == (
            f"The data folder {folder} cannot be used: {reason}."
            " Set PLAYGROUND_DATA_DIR to a folder that can be written."
        )
        assert not folder.is_dir() or not list(folder.iterdir())

    @pytest.mark.parametrize(
        ("value", "formatter"),
        [("", TextFormatter), ("text", TextFormatter), ("json", JSONFormatter)],
    )
    def test_the_format_of_the_log(self, tmp_path: Path, value: str, formatter: type) -> None:
        found = read_settings(tmp_path, PLAYGROUND_LOG_FORMAT=value).LOGGING
        configured = DictConfigurator(found).configure_formatter(found["formatters"]["line"])
        assert isinstance(configured, formatter)

    @pytest.mark.parametrize(
        ("url", "engine", "name"),
        [
            ("", "django.db.backends.sqlite3", "{data}/playground.sqlite3"),
            ("sqlite:////{tmp}/x.sqlite3", "django.db.backends.sqlite3", "/{tmp}/x.sqlite3"),
            ("postgres://u:p@db.example:5433/play", "django.db.backends.postgresql", "play"),
        ],
    )
    def test_the_database(self, tmp_path: Path, url: str, engine: str, name: str) -> None:
        tmp = str(tmp_path).lstrip("/")
        found = read_settings(tmp_path, DATABASE_URL=url.format(tmp=tmp)).DATABASES["default"]
        assert found["ENGINE"] == engine
        assert found["NAME"] == name.format(data=tmp_path, tmp=tmp)

    @pytest.mark.parametrize(("url", "name"), [("", "InMemory"), ("redis://r.example", "redis")])
    def test_the_channel_layer(self, tmp_path: Path, url: str, name: str) -> None:
        assert name in read_settings(tmp_path, REDIS_URL=url).CHANNEL_LAYERS["default"]["BACKEND"]

    def test_connections_to_postgresql(self, tmp_path: Path) -> None:
        url = "postgres://u:p@db.example/play?sslmode=require&keepalives_idle=5"
        for seconds, expected in (("", 10), ("30", 30), ("1", 2)):
            found = read_settings(
                tmp_path, DATABASE_URL=url, PLAYGROUND_DATABASE_TIMEOUT=seconds
            ).DATABASES["default"]["OPTIONS"]
            assert found["connect_timeout"] == expected
            milliseconds = int(seconds or 10) * 1000
            assert found["tcp_user_timeout"] == milliseconds
            assert found["options"] == f"-c statement_timeout={milliseconds}"
            assert found["application_name"].startswith("nlweb-playground ")
            assert (found["sslmode"], int(found["keepalives_idle"])) == ("require", 5)


class TestChecks:
    @pytest.mark.process
    def test_django_runs_them(self, tmp_path: Path) -> None:
        server = PlaygroundServer(
            tmp_path, WEB_CONCURRENCY="2", PLAYGROUND_OUTBOUND_ALLOW="10.0.0/8"
        )
        done = server.manage("check")
        assert done.returncode != 0
        assert "playground.E002" in done.stderr
        assert "playground.E004" in done.stderr

    @pytest.mark.process
    def test_a_mistake_in_the_environment_stops_a_command(self, tmp_path: Path) -> None:
        done = PlaygroundServer(tmp_path, PLAYGROUND_MODE="cloud").manage("check")
        assert done.returncode != 0
        assert "PLAYGROUND_MODE must be local or hosted" in done.stderr


def test_there_is_one_version() -> None:
    """The metadata of the package has the same one: tests/qa/wheel/."""
    assert page_context(HttpRequest())["site"]["version"] == playground.__version__
    assert f"## {playground.__version__}" in (ROOT / "CHANGELOG.md").read_text()
