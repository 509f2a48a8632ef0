"""Arguments that several commands take, and their errors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from django import forms
from django.core.management import CommandError
from django.db.models import Model

from playground.base.fields import parse_document
from playground.base.installation import command_line
from playground.engine.preparation import agent_for_url, available_bindings, unknown_protocol
from playground.import_export.data_rows import AssignmentError, parse_assignment
from playground.models import Agent, Collection, Environment
from playground.protocols import registry
from playground.transport import check_url

#: Exit code for invalid arguments.
USAGE = 2

_Row = TypeVar("_Row", bound=Model)


def seconds(text: str) -> float:
    """Return a number of seconds greater than zero, for argparse."""
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError("must be greater than zero")
    return value


def up_to(limit: int) -> Callable[[str], int]:
    """Return an argparse type for a whole number from 1 to `limit`."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and 0 < int(text[:12]) <= limit):
            raise argparse.ArgumentTypeError(f"{text} is not an integer from 1 to {limit:,}")
        return int(text)

    return read


#: Options of several commands: what `add_argument` takes, but for a help that differs.
_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "--text": {"help": "text of a new request"},
    "--request": {"metavar": "FILE", "help": "request document; - for standard input"},
    "--protocol": {"choices": sorted(registry.PROTOCOLS)},
    "--binding": {"choices": sorted(registry.BINDINGS)},
    "--var": {
        "action": "append",
        "default": [],
        "metavar": "NAME=VALUE",
        "help": "set a variable; JSON values are parsed; can be repeated",
    },
    "--timeout": {"type": seconds, "metavar": "S"},
    "--output": {"default": "text", "help": "format; default: text"},
}


def add_options(parser: argparse._ActionsContainer, *names: str, **more: Any) -> None:
    """Add options of `_OPTIONS` to a parser or a group; `more` is for all of them."""
    for name in names:
        parser.add_argument(name, **{**_OPTIONS[name], **more})


def agent_of(name: str) -> Agent:
    """Return the agent with this slug, or an unsaved one for a URL.

    Raise `CommandError` for a URL that cannot be called, and for an unknown slug.
    """
    if "://" in name:
        if error := check_url(name):
            raise CommandError(error, returncode=USAGE)
        return agent_for_url(name, registry.DEFAULT, None)
    return _shared(Agent, "agent", name)


def versions_of(agent: Agent) -> list[str]:
    """Return the versions of an agent's protocol. Raise `CommandError` for an unknown protocol."""
    if unknown := unknown_protocol(agent):
        raise CommandError(unknown, returncode=USAGE)
    return [version.name for version in registry.of(agent.protocol).versions]


def collection_of(slug: str) -> Collection:
    """Return the collection with this slug. Raise `CommandError` for an unknown one."""
    return _shared(Collection, "collection", slug)


def _shared(model: type[_Row], noun: str, slug: str) -> _Row:
    """Return the row without an owner that has this slug.

    Raise `CommandError` with the known slugs, or with how to add the samples, if there are none.
    """
    rows = model._default_manager.filter(owner=None)
    if found := rows.filter(slug=slug).first():
        return found
    known = ", ".join(rows.values_list("slug", flat=True)[:50])
    if not known:
        start = command_line("serve")
        advice = f". Start the playground once to add the samples: {start}"
        known = "none" + ("" if model is Environment else advice)
    raise CommandError(f"Unknown {noun} “{slug}”. Saved {noun}s: {known}", returncode=USAGE)


def document_from(
    source: str, parse: Callable[[str], dict[str, Any]] = parse_document
) -> dict[str, Any]:
    """Return the JSON object in a file, `-` for standard input. Raise `CommandError`."""
    try:
        return parse(bytes_from(source).decode("utf-8"))
    except forms.ValidationError as error:
        raise CommandError(f"{source}: {error.messages[0]}", returncode=USAGE) from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{source}: not UTF-8 text", returncode=USAGE) from error


def bytes_from(source: str, limit: int | None = None) -> bytes:
    """Return the content of a file, `-` for standard input. Raise `CommandError`.

    Of a larger one than `limit` return one byte more.
    """
    size = -1 if limit is None else limit + 1
    try:
        if source == "-":
            return sys.stdin.buffer.read(size)
        with Path(source).open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise CommandError(f"{source}: {error.strerror}", returncode=USAGE) from error


def binding_of(agent: Agent, binding: str | None) -> str | None:
    """Return the binding of a request to `agent`, None for the agent's own.

    A URL does not tell its binding, so it becomes the own one of an unsaved agent. Raise
    `CommandError` for a binding that does not carry the agent's protocol.
    """
    if binding is None:
        return None
    if binding not in available_bindings(agent):
        label = agent.get_protocol_display()
        raise CommandError(f"--binding {binding} does not support {label}", returncode=USAGE)
    if agent.pk is None:
        agent.binding = binding
    return binding


def environment_of(slug: str | None) -> Environment | None:
    """Return the environment with this slug, None for None. Raise `CommandError`."""
    return None if slug is None else _shared(Environment, "environment", slug)


def variables_of(assignments: Sequence[str]) -> dict[str, Any]:
    """Return the values of "name=value" arguments: JSON, or else text.

    Raise `CommandError` for an argument that is not name=value.
    """
    try:
        return dict(map(parse_assignment, assignments))
    except AssignmentError:
        raise CommandError("--var expects NAME=VALUE", returncode=USAGE) from None
