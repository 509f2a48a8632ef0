"""What `manage.py check` says of the settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from playground import checks, generated
from playground.base.private_files import read_or_create_key
from playground.checks import private_file_permissions


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a file has no mode")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o604])
@pytest.mark.parametrize("name", ["encryption-key", "p.sqlite3", "p.sqlite3-wal"])
def test_a_file_that_others_can_read(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, mode: int
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    monkeypatch.setattr(checks, "database_file", lambda _: settings.DATA_DIR / "p.sqlite3")
    read_or_create_key(settings.DATA_DIR / name)
    assert not [*private_file_permissions()]
    (settings.DATA_DIR / name).chmod(mode)
    assert [found.id for found in private_file_permissions()] == ["playground.W002"] * (
        mode != 0o600
    )


def test_a_new_directory_is_its_owners_alone(tmp_path: Path) -> None:
    read_or_create_key(tmp_path / "data" / "encryption-key")
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


def test_generated_files_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not [*checks.generated_files()]
    monkeypatch.setattr(generated, "FILES", [generated.RULE_EXAMPLES, tmp_path / "new.json"])
    (found,) = checks.generated_files()
    assert (found.id, found.hint) == ("playground.W007", "Run `make examples`, and restart.")
    assert "new.json not found" in found.msg


LOCAL_NAMES = ["127.0.0.1", "localhost", "[::1]"]
REDIS = {"CHANNEL_LAYERS": {"default": {"BACKEND": "channels_redis.pubsub.X"}}}
POSTGRESQL = {"DATABASES": {"default": {"ENGINE": "django.db.backends.postgresql"}}}
OTLP = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
NO_PACKAGES = {"no packages": True}

#: Check, variables (None for one that is not set), settings, and the ids of the messages.
CHECKS: dict[str, tuple[str, dict[str, str | None], dict[str, Any], str]] = {
    "no number of processes": ("several_processes", {"WEB_CONCURRENCY": None}, {}, ""),
    "one process": ("several_processes", {"WEB_CONCURRENCY": "1"}, {}, ""),
    "a word": ("several_processes", {"WEB_CONCURRENCY": "two"}, {}, "E001"),
    "two processes": ("several_processes", {"WEB_CONCURRENCY": "2"}, {}, "E002 W001"),
    "two and Redis": ("several_processes", {"WEB_CONCURRENCY": "2"}, REDIS, "W001"),
    "two and PostgreSQL": ("several_processes", {"WEB_CONCURRENCY": "2"}, POSTGRESQL, "E002"),
    "two and both": ("several_processes", {"WEB_CONCURRENCY": "2"}, REDIS | POSTGRESQL, ""),
    "local names": ("hosted_mode", {}, {"HOSTED": False, "ALLOWED_HOSTS": LOCAL_NAMES}, ""),
    "hosted, local names": (
        "hosted_mode", {}, {"HOSTED": True, "ALLOWED_HOSTS": LOCAL_NAMES}, "E003",
    ),
    "hosted": ("hosted_mode", {}, {"HOSTED": True, "ALLOWED_HOSTS": ["play.example"]}, ""),
    "no workers": ("keys_of_workers", {"SECRET_KEY": None}, {"WORKERS": False}, ""),
    "workers, one key": (
        "keys_of_workers", {"SECRET_KEY": "k", "PLAYGROUND_KEY": None}, {"WORKERS": True}, "W006",
    ),
    "workers, keys": (
        "keys_of_workers", {"SECRET_KEY": "k", "PLAYGROUND_KEY": "k"}, {"WORKERS": True}, "",
    ),
    "no quota": ("quota_and_limits", {}, {"QUOTA": 0}, ""),
    "a small quota": ("quota_and_limits", {}, {"QUOTA": 100}, "W003"),
    "a quota of one response": ("quota_and_limits", {}, {"QUOTA": 32 * 1024 * 1024}, ""),
    "no traces": ("export_of_traces", {}, NO_PACKAGES, ""),
    "traces": ("export_of_traces", OTLP, {}, ""),
    "traces, no packages": ("export_of_traces", OTLP, NO_PACKAGES, "W004"),
    "traces over HTTP": (
        "export_of_traces",
        {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, {}, "",
    ),
    "traces over gRPC": (
        "export_of_traces",
        {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, {}, "W005",
    ),
    **{
        f"allowed: {entry}": ("outbound_allow_list", {}, {"OUTBOUND_ALLOW": [entry]}, "")
        for entry in (
            "agent.internal", "agent.internal.", "Agent_1", "localhost", "münchen.example",
            "10.0.0.0/8", "10.1.2.3", "::1", "[::1]", "fd00::/8",
        )
    },
    **{
        f"not allowed: {entry}": (
            "outbound_allow_list", {}, {"OUTBOUND_ALLOW": ["10.0.0.0/8", entry]}, "E004",
        )
        for entry in (
            "10.0.0/8", "10.0.0.0/33", "10.0.0.256", "10.0.0", "http://agent.internal",
            "agent.internal:8001", "agent.internal/ask", "*.internal", "a b", "a..b", ".internal",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize(("check", "environment", "values", "ids"), CHECKS.values(), ids=CHECKS)
def test_the_settings(
    monkeypatch: pytest.MonkeyPatch,
    check: str,
    environment: dict[str, str | None],
    values: dict[str, Any],
    ids: str,
) -> None:
    for name, value in environment.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    for name, value in values.items():
        # Without the signal of a changed database.
        monkeypatch.setattr(checks.settings, name, value, raising=False)
    found_spec = None if values is NO_PACKAGES else object()
    monkeypatch.setattr(checks, "find_spec", lambda _: found_spec)
    found = [*getattr(checks, check)()]
    assert [message.id for message in found] == [f"playground.{each}" for each in ids.split()]
    assert all(message.hint or message.id == "playground.E001" for message in found)
    if "OUTBOUND_ALLOW" in values:
        assert all(repr(values["OUTBOUND_ALLOW"][-1]) in message.msg for message in found)
