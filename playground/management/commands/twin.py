"""Command that sends one request two ways and compares the replies.

Exit codes: 0 the replies are equal (but for differences of their versions), 1 they differ, 2 usage
error, 3 a run did not complete, so nothing can be compared.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any
from uuid import uuid4

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.management import CommandError, CommandParser

from playground.base.limits import RunLimits
from playground.cli.arguments import (
    USAGE,
    add_options,
    agent_of,
    binding_of,
    document_from,
    versions_of,
)
from playground.cli.database_command import DatabaseCommand
from playground.cli.output import configure_stream, one_line
from playground.cli.signals import on_stop_signal
from playground.compare.comparison import headline_of, not_comparable_reasons
from playground.compare.twins import comparison_of, convert_to_version, twin_sides
from playground.conversation.status import target_label
from playground.engine import tasks
from playground.engine.mcp_sessions import end_sessions_of
from playground.engine.request import PreparedRequest, request_to
from playground.engine.runs import create_run
from playground.models import Agent, Run, Twin
from playground.protocols import registry
from playground.protocols.diff.responses import Comparison, Difference
from playground.protocols.text import printable_json
from playground.ui.formatting import json_preview

#: Limit on the characters of a value in a line of text.
MAX_VALUE = 100

RequestPair = tuple[PreparedRequest, PreparedRequest]


class Command(DatabaseCommand):
    """`python manage.py twin AGENT AGENT --text "…"`."""

    help = "Send one request to two targets and compare the responses."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("left", metavar="agent", help="slug of a saved agent, or a URL")
        parser.add_argument(
            "right", metavar="agent", help="the other agent, or the same agent again"
        )
        request = parser.add_mutually_exclusive_group()
        add_options(request, "--text", "--request")
        help_text = "protocol of both sides; default: that of the agents, nlweb for a URL"
        add_options(parser, "--protocol", help=help_text)
        for name, metavar in (("version", "VERSION"), ("binding", "BINDING")):
            parser.add_argument(
                f"--{name}", action="append", default=[], metavar=metavar,
                help=f"{name} of both sides; if given twice, of the left and the right side",
            )  # fmt: skip
        add_options(parser, "--timeout", help="timeout of each run in seconds")
        add_options(parser, "--output", choices=["text", "json"])

    def handle(self, *args: Any, **options: Any) -> None:
        pair = _requests(options)
        for prepared in pair:
            for problem in registry.validate_request(prepared.target, prepared.request):
                if problem.level == "error":
                    place = problem.pointer or "/"
                    raise CommandError(f"{place}: {problem.message}", returncode=USAGE)
        as_json = options["output"] == "json"
        configure_stream(sys.stdout, as_json)
        twin = asyncio.run(_send(pair, options["timeout"]))
        reasons = list(not_comparable_reasons(twin.left, twin.right))
        comparison = None if reasons else comparison_of(twin.left, twin.right)
        lines = _json_lines if as_json else _text_lines
        for line in lines(twin, comparison, reasons):
            print(line)
        sys.exit(3 if comparison is None else 0 if comparison.same else 1)


def _requests(options: dict[str, Any]) -> RequestPair:
    left, right = agent_of(options["left"]), agent_of(options["right"])
    versions, bindings = (_pair(options[name], name) for name in ("version", "binding"))
    for agent in (left, right):
        agent.protocol = options["protocol"] or agent.protocol
    if left.protocol != right.protocol:
        raise CommandError("The agents use different protocols", returncode=USAGE)
    left_version, right_version = _version(left, versions[0]), _version(right, versions[1])
    if (source := options["request"]) is not None:
        document = document_from(source)
    else:
        document = registry.of(left.protocol).new_request(left_version, options["text"] or "")
    other = convert_to_version(document, left_version, right_version)
    return (
        _request(left, document, left_version, bindings[0]),
        _request(right, other, right_version, bindings[1]),
    )


def _request(
    agent: Agent, document: dict[str, Any], version: str, binding: str | None
) -> PreparedRequest:
    document = agent.with_own_ids(document, str(uuid4()))
    return request_to(agent, document, version=version, binding=binding_of(agent, binding))


def _pair(values: list[str], name: str) -> tuple[str | None, str | None]:
    """Return a value that is given once for both sides, or twice for the left and the right one."""
    if len(values) > 2:
        raise CommandError(f"--{name} can be given at most twice", returncode=USAGE)
    return (values[0], values[-1]) if values else (None, None)


def _version(agent: Agent, wanted: str | None) -> str:
    known = versions_of(agent)
    version = wanted or (agent.version if agent.version in known else known[-1])
    if version not in known:
        raise CommandError(f"--version must be one of {', '.join(known)}", returncode=USAGE)
    return version


async def _send(pair: RequestPair, total_timeout: float | None) -> Twin:
    """Send both requests at the same time; `total_timeout` is the seconds for each run."""
    on_stop_signal(lambda _: tasks.stop_all())
    limits: RunLimits = settings.RUN_LIMITS
    limits = replace(limits, total_timeout=total_timeout) if total_timeout else limits
    twin = await sync_to_async(_record)(pair)
    await asyncio.gather(
        *(
            tasks.send_here(run, prepared, limits=limits)
            for run, prepared in zip((twin.left, twin.right), pair, strict=True)
        )
    )
    for run in (twin.left, twin.right):
        await run.arefresh_from_db()
    await end_sessions_of([twin.left.conversation_id, twin.right.conversation_id])
    return twin


def _record(pair: RequestPair) -> Twin:
    left, right = (create_run(prepared) for prepared in pair)
    twin: Twin = Twin.objects.create(left=left, right=right)
    return twin


def _text_lines(twin: Twin, comparison: Comparison | None, reasons: list[str]) -> Iterator[str]:
    for side in twin_sides(twin):
        target = f"{side.run.agent_name}, {target_label(side.run)}, {side.run.url}"
        yield one_line(f"{side.position.lower():>6} {target}")
    if comparison is None:
        yield from map(one_line, reasons)
        return
    for each in comparison.differences:
        what = f"{each.label} {each.pointer}".rstrip()
        yield one_line(f"{each.change:>8} {what}{_values(each)}")
        if each.expected:
            yield one_line(f"         {each.expected}")
    if more := comparison.total - len(comparison.differences):
        yield f"         {more} more"
    yield headline_of(comparison)


def _values(each: Difference) -> str:
    left, right = json_preview(each.left, MAX_VALUE), json_preview(each.right, MAX_VALUE)
    return {"added": f": {right}", "removed": f": {left}"}.get(each.change, f": {left} → {right}")


def _json_lines(twin: Twin, comparison: Comparison | None, reasons: list[str]) -> Iterator[str]:
    document: dict[str, Any] = {
        "twin": twin.pk,
        "left": _side(twin.left),
        "right": _side(twin.right),
        "reasons": reasons,
    }
    if comparison is not None:
        document |= {"same": comparison.same, **asdict(comparison)}
    yield printable_json(json.dumps(document, ensure_ascii=True, default=str))


def _side(run: Run) -> dict[str, Any]:
    names = ("agent_name", "url", "protocol", "version", "binding", "state", "outcome", "results")
    return {"run": run.pk, **{name: getattr(run, name) for name in names}}
