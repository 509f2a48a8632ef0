"""What `manage.py check` says of the settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from playground import checks
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


@pytest.mark.parametrize(
    ("quota", "ids"), [(0, []), (100, ["playground.W003"]), (32 * 1024 * 1024, [])]
)
def test_a_quota_has_room_for_a_response(settings: Any, quota: int, ids: list[str]) -> None:
    settings.QUOTA = quota
    assert [found.id for found in checks.quota_and_limits()] == ids


def test_a_new_directory_is_its_owners_alone(tmp_path: Path) -> None:
    read_or_create_key(tmp_path / "data" / "encryption-key")
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("environment", "is_installed", "ids"),
    [
        ({}, False, []),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, True, []),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, False, ["playground.W004"]),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
            True,
            [],
        ),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            True,
            ["playground.W005"],
        ),
    ],
)
def test_the_export_of_traces(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], is_installed: bool, ids: list[str]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(checks, "find_spec", lambda _: object() if is_installed else None)
    assert [found.id for found in checks.export_of_traces()] == ids
