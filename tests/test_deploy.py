"""The examples of deployments (compose.yaml, the units of systemd, the proxy) and the workflows."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.management import load_command_class

from playground.server.admission import MAX_BODY

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs/deployment.md").read_text()
COMPOSE_TEXT = (ROOT / "compose.yaml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(COMPOSE_TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
UNITS = sorted((ROOT / "deploy").glob("*.service"))
#: A variable that Compose replaces: its name, `-` or `?`, and the default or the error.
VARIABLE = re.compile(r"(?<!\$)\$\{(\w+):([-?])([^}]*)\}")


def parse(arguments: list[str]) -> dict[str, Any]:
    """Return the options of a command line of the playground; an unknown one fails."""
    command, *rest = [VARIABLE.sub(r"\3", argument) for argument in arguments]
    return vars(
        load_command_class("playground", command).create_parser("", command).parse_args(rest)
    )


class TestCompose:
    def test_every_variable_is_documented(self) -> None:
        rows = set(re.findall(r"`([A-Z_]+)`", PAGE))
        names = {name for name, _, _ in VARIABLE.findall(COMPOSE_TEXT)}
        assert len(names) > 5
        assert names <= rows

    def test_every_secret_is_required(self) -> None:
        secrets = {"POSTGRES_PASSWORD", "REDIS_PASSWORD", "SECRET_KEY", "PLAYGROUND_KEY"}
        required = {name for name, kind, _ in VARIABLE.findall(COMPOSE_TEXT) if kind == "?"}
        optional = {name for name, kind, _ in VARIABLE.findall(COMPOSE_TEXT) if kind == "-"}
        assert required == secrets
        assert not required & optional

    @pytest.mark.parametrize("name", SERVICES)
    def test_a_service_is_hardened(self, name: str) -> None:
        service = SERVICES[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert str(service["user"]).partition(":")[0] not in {"", "0", "root"}
        assert service["healthcheck"]["test"]
        assert "privileged" not in service

    def test_only_the_proxy_is_published_and_only_on_this_machine(self) -> None:
        published = {name: each["ports"] for name, each in SERVICES.items() if "ports" in each}
        assert published == {"nginx": ["127.0.0.1:${PORT:-8000}:8000"]}

    @pytest.mark.parametrize("name", ["web", "worker"])
    def test_the_command_and_its_settings_exist(self, name: str) -> None:
        assert parse(SERVICES[name]["command"])
        rows = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/settings.md").read_text(), re.M))
        assert SERVICES[name]["environment"].keys() <= rows

    @pytest.mark.parametrize("name", ["web", "worker"])
    def test_the_health_check_requests_a_port_of_the_service(self, name: str) -> None:
        *_, script = SERVICES[name]["healthcheck"]["test"]
        compile(script, name, "exec")
        options = parse(SERVICES[name]["command"])
        port = options["port"] if name == "web" else options["metrics_port"]
        assert f'("127.0.0.1", {port}, ' in script

    def test_a_service_waits_for_others_that_exist_and_have_health_checks(self) -> None:
        for service in SERVICES.values():
            for name, condition in service.get("depends_on", {}).items():
                assert condition == {"condition": "service_healthy"}
                assert "healthcheck" in SERVICES[name]

    def test_a_stop_takes_longer_than_the_runs_get(self) -> None:
        for name in ("web", "worker"):
            grace = int(SERVICES[name]["stop_grace_period"].removesuffix("s"))
            assert grace >= settings.DRAIN_SECONDS + 20

    def test_files_that_are_mounted_exist(self) -> None:
        mounts = [volume for service in SERVICES.values() for volume in service.get("volumes", [])]
        files = [mount.partition(":")[0] for mount in mounts if mount.startswith("./")]
        assert files
        assert all((ROOT / file).is_file() for file in files)
        named = {mount.partition(":")[0] for mount in mounts if not mount.startswith("./")}
        assert named == COMPOSE["volumes"].keys()


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
class TestUnits:
    def test_the_command_exists(self, unit: Path) -> None:
        [line] = re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)
        assert parse(shlex.split(line)[1:])

    def test_a_stop_takes_longer_than_the_runs_get(self, unit: Path) -> None:
        [seconds] = re.findall(r"^TimeoutStopSec=(\d+)$", unit.read_text(), re.MULTILINE)
        assert int(seconds) >= settings.DRAIN_SECONDS + 20

    def test_the_units_are_equally_hardened(self, unit: Path) -> None:
        def hardening(path: Path) -> str:
            return path.read_text().partition("UMask")[2]

        assert hardening(unit) == hardening(UNITS[0])


class TestProxy:
    TEXT = (ROOT / "deploy/nginx/playground.conf").read_text()

    def test_it_accepts_the_bodies_that_the_playground_accepts(self) -> None:
        assert f"client_max_body_size {MAX_BODY // 1024**2}m;" in self.TEXT

    @pytest.mark.parametrize("name", ["upstream.conf", "upstream-compose.conf"])
    def test_it_closes_idle_connections_before_the_playground_does(self, name: str) -> None:
        text = (ROOT / "deploy/nginx" / name).read_text()
        [seconds] = re.findall(r"keepalive_timeout (\d+)s;", text)
        assert int(seconds) < settings.CLIENT_TIMEOUT

    def test_a_request_that_changes_something_is_sent_once(self) -> None:
        [tries] = re.findall(r"^ *proxy_next_upstream (.*);", self.TEXT, re.MULTILINE)
        assert "non_idempotent" not in tries


class TestWorkflows:
    CI, RELEASE = (
        (ROOT / ".github/workflows" / f"{name}.yml").read_text() for name in ("ci", "release")
    )

    def test_ci_has_the_versions_of_python_that_the_package_promises(self) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        promised = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
        assert yaml.safe_load(self.CI)["jobs"]["check"]["strategy"]["matrix"]["python"] == promised
        assert project["requires-python"] == f">={promised[0]}"

    def test_what_they_call_exists(self) -> None:
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        called = re.findall(r"\bmake ([a-z-]+)$", self.CI + self.RELEASE, re.MULTILINE)
        assert called
        assert set(called) <= set(targets)
        assert "run: .ci/run\n" in self.CI
        assert (ROOT / ".ci/run").stat().st_mode & 0o111

    def test_only_the_job_that_publishes_gets_an_identity_and_only_after_the_checks(self) -> None:
        jobs = yaml.safe_load(self.RELEASE)["jobs"]
        assert [name for name, job in jobs.items() if "permissions" in job] == ["publish"]
        assert jobs["publish"]["permissions"] == {"id-token": "write"}
        assert (jobs["publish"]["needs"], jobs["build"]["needs"]) == ("build", "check")
        assert "secrets." not in self.CI + self.RELEASE
