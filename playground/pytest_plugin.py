"""Pytest plugin of the installed package: `pytest --playground-collection FILE`.

Each request of a collection is a test, which passes if its expectations are met. One
`run_collection` sends the selected requests of a file in order, in a process of its own, as the
tested project may have Django settings. Every run of pytest loads this module, so it is light.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import pytest

from playground.protocols.text import printable

_FOLDER, _REQUEST = "playground.folder", "playground.savedrequest"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the collection, and what replaces its agents and defines its variables."""
    group = parser.getgroup("playground", "collections of NLWeb Playground")
    group.addoption(
        "--playground-collection", action="append", default=[], metavar="FILE",
        help="run the requests of a collection as tests; can be repeated",
    )  # fmt: skip
    group.addoption(
        "--playground-agent", metavar="URL",
        help="slug or URL; replaces the agent of every request with the same protocol",
    )  # fmt: skip
    group.addoption(
        "--playground-environment", metavar="SLUG", help="environment that defines the variables"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect the files of the option; the project's own tests only if they are named, too."""
    if files := _files(config):
        named = config.args if config.args_source is pytest.Config.ArgsSource.ARGS else []
        config.args = [*named, *map(str, files)]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CollectionFile | None:
    """Return the collector of a file of the option."""
    if file_path in _files(parent.config):
        return CollectionFile.from_parent(parent, path=file_path)
    return None


def _files(config: pytest.Config) -> list[Path]:
    names: list[str] = config.getoption("--playground-collection")
    return [Path(os.path.abspath(config.invocation_params.dir / name)) for name in names]


class RequestError(Exception):
    """A request that did not pass, or could not be sent; the message says why."""


class CollectionFile(pytest.File):
    """A file with a collection; its requests are sent when the first one is tested."""

    def collect(self) -> Iterator[RequestItem]:
        try:
            entries = json.loads(self.path.read_bytes())
            fields = [(each["model"], each["fields"]) for each in entries]
            folders = {of["slug"]: of["name"] for model, of in fields if model == _FOLDER}
            for model, of in fields:
                if model == _REQUEST:
                    folder = (of.get("folder") or [""])[-1]
                    title = folders.get(folder, ""), of["name"]
                    name = "/".join(filter(None, [folder, of["slug"]]))
                    yield RequestItem.from_parent(self, name=name, title=title)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self.CollectError(f"{self.path} is not a collection: {error!r}") from error

    @cached_property
    def results(self) -> tuple[dict[tuple[str, str], list[dict[str, Any]]], str]:
        """The steps of the report by title, and the error output. This sends the requests."""
        slugs = [each.name.rpartition("/")[2] for each in self.session.items if each.parent is self]
        steps = defaultdict(list)
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            error = self._run(report, slugs)
            if report.exists():
                for step in json.loads(report.read_bytes())["steps"]:
                    steps[step["folder"], step["name"]].append(step)
        return steps, error

    def _run(self, report: Path, slugs: Iterable[str]) -> str:
        """Run the collection; return what it wrote to standard error."""
        arguments = [str(self.path), f"--reporter=json={report}"]
        arguments += [f"--request={slug}" for slug in slugs]
        for name in ("agent", "environment"):
            if value := self.config.getoption(f"--playground-{name}"):
                arguments.append(f"--{name}={value}")
        return subprocess.run(  # noqa: S603
            [sys.executable, "-m", "playground", "run_collection", *arguments],
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "playground.settings"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ).stderr


class RequestItem(pytest.Item):
    """A request as a test."""

    def __init__(self, *, title: tuple[str, str], **options: Any) -> None:
        super().__init__(**options)
        #: The names of the folder and the request.
        self.title = title

    def runtest(self) -> None:
        """Fail unless the expectations of the request are met."""
        steps, error = cast("CollectionFile", self.parent).results
        if not steps[self.title]:
            raise RequestError(error.strip() or "run_collection has not reported the request.")
        step = steps[self.title].pop(0)
        self.user_properties.append(("took_ms", step["took_ms"]))
        if step["verdict"] == "skipped":
            pytest.skip(step["reason"] or "The collection run ended before this request.")
        if step["verdict"] != "met":
            raise RequestError(printable("\n".join(_reasons(step))))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the reasons; the traceback would be that of this plugin."""
        if isinstance(excinfo.value, RequestError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the file, and the headline of a failure."""
        return self.path, None, " / ".join(filter(None, self.title))


def _reasons(step: dict[str, Any]) -> Iterator[str]:
    yield from filter(None, [step["reason"], step["problem"]])
    for check in step["checks"]:
        if check["met"] is not True:
            yield f"{check['expectation']}: expected {check['wanted']}, actual {check['actual']}"
