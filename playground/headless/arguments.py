"""Arguments that several commands take, and the complaints about them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django import forms
from django.core.management import CommandError

from playground import engine
from playground.forms import read_document
from playground.headless.agents import find_agent
from playground.library.assignments import AssignmentError, parse_assignment
from playground.models import Agent, Environment
from playground.twin_targets import bindings_of

#: The exit code for arguments that do not fit.
USAGE = 2


def agent_of(name: str) -> Agent:
    """The agent that an argument names. Raises `CommandError` for none."""
    try:
        return find_agent(name)
    except LookupError as error:
        raise CommandError(str(error), returncode=USAGE) from error


def document_from(source: str) -> dict[str, Any]:
    """A JSON object from a file, `-` for the standard input. Raises `CommandError` for none."""
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text("utf-8")
        return read_document(text)
    except OSError as error:
        raise CommandError(f"{source}: {error.strerror}", returncode=USAGE) from error
    except forms.ValidationError as error:
        raise CommandError(f"{source}: {error.messages[0]}", returncode=USAGE) from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{source}: not UTF-8 text", returncode=USAGE) from error


def seconds(text: str) -> float:
    """A number of seconds greater than zero, for argparse."""
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError("must be greater than zero")
    return value


def binding_of(agent: Agent, wanted: str | None) -> str | None:
    """How a request to `agent` is to travel, None for its own way.

    An address says nothing of that, so for an agent that is not saved it becomes its own way.
    Raises `CommandError` for a binding that does not carry the agent's protocol.
    """
    if wanted is None:
        return None
    if wanted not in bindings_of(agent):
        label = Agent.Protocol(agent.protocol).label
        raise CommandError(f"--binding {wanted} carries no {label}", returncode=USAGE)
    if agent.pk is None:
        agent.binding = wanted
    return wanted


def environment_of(slug: str | None) -> Environment | None:
    """The environment with this slug, None where none is wanted. Raises `CommandError`."""
    if slug is None:
        return None
    mine = Environment.objects.filter(owner=None)
    found: Environment | None = mine.filter(slug=slug).first()
    if found is None:
        known = ", ".join(mine.values_list("slug", flat=True)[:50]) or "none"
        raise CommandError(f"No environment “{slug}”. Environments: {known}", returncode=USAGE)
    return found


def variables_of(given: Sequence[str]) -> dict[str, Any]:
    """What "name=value" pairs say: JSON values, and text where it is no JSON.

    Raises `CommandError` for what is no name with a value.
    """
    try:
        return dict(map(parse_assignment, given))
    except AssignmentError:
        raise CommandError("--var wants NAME=VALUE", returncode=USAGE) from None


def prepare_request(composition: engine.Composition, scope: engine.Scope) -> engine.PreparedRequest:
    """The request of a composition. Raises `CommandError` for everything that stops a send."""
    found = engine.prepare(composition, scope)
    if found.prepared is None or found.errors:
        told = (f"{each.pointer or '/'}: {each.message}" for each in found.errors)
        raise CommandError("\n".join(told), returncode=USAGE)
    return found.prepared


def request_over(
    agent: Agent, document: dict[str, Any], *, version: str, binding: str | None
) -> engine.PreparedRequest:
    """A request to `agent` that travels as `binding_of` says. Raises as that."""
    way = binding_of(agent, binding)
    return engine.request_over_binding(agent, document, version=version, binding=way)
