"""Command that sends a request to an agent, through the same engine as the page.

Exit codes: 0 a completed run with any outcome but failure, 1 outcome failure, 2 usage error (also
answers that do not fit the agent's questions), 3 every other final state (also a promise that was
not settled in the time that it was polled), 4 findings of the level of --fail-on.
"""

from __future__ import annotations

import asyncio
import json
import sys
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.core.management import CommandError, CommandParser

from playground.base.fields import (
    parse_document,
    parse_document_anyway,
    parse_header_templates,
)
from playground.cli.arguments import (
    USAGE,
    add_options,
    agent_of,
    binding_of,
    bytes_from,
    document_from,
    environment_of,
    variables_of,
    versions_of,
)
from playground.cli.database_command import DatabaseCommand
from playground.cli.dialogue import Dialogue, SendOptions
from playground.cli.output import Printer, configure_stream, ignored_by_runner
from playground.elicitation.strategies import STRATEGIES
from playground.engine import preparation
from playground.engine.follow_ups import follow_up_document, follow_up_omissions
from playground.engine.request import PreparedRequest
from playground.engine.runs import RunParent
from playground.models import Agent, Run, RunState
from playground.models.conversations import turn_of
from playground.protocols import lenient, raw, registry
from playground.protocols.mcp.versions import VERSIONS
from playground.variables.names import literal, names_in

#: Options of a raw request, by the members of `raw`.
_RAW = {
    "method": (("-X", "--method"), "HTTP method, for example PATCH; default: POST"),
    "path": (("--path",), "path after the agent's base URL, with a query; '' for the URL itself"),
    "content_type": (("--content-type",), "media type of the body; '' for none"),
    "body": (("-d", "--body"), "body of the request; @FILE for a file, @- for standard input"),
}


class Command(DatabaseCommand):
    """`python manage.py send AGENT --text "…"`."""

    help = "Send a request to an agent and print the response as it arrives."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("agent", help="slug of a saved agent, or a URL")
        request = parser.add_mutually_exclusive_group()
        add_options(request, "--text", "--request")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="PATH=VALUE",
            dest="assignments",
            help="set a field, for example query.site=recipes.example; JSON values are parsed",
        )
        help_text = "protocol of the request; default: the agent's, nlweb for a URL"
        add_options(parser, "--protocol", help=help_text)
        parser.add_argument(
            "--protocol-version", "--version", dest="protocol_version", metavar="VERSION",
            help="protocol version, for example 0.54; default: that of the conversation, else the "
            "agent's, the latest for a URL",
        )  # fmt: skip
        help_text = "transport of the request; default: the agent's, http for a URL"
        add_options(parser, "--binding", help=help_text)
        parser.add_argument(
            "--tool", metavar="NAME",
            help="MCP tool to call; default: the agent's, chosen from tools/list for a URL",
        )  # fmt: skip
        parser.add_argument(
            "--mcp-version", choices=["auto", *VERSIONS],
            help="MCP version: stateless (2026-07-28) or with a session; default: the agent's",
        )  # fmt: skip
        parser.add_argument(
            "-H",
            "--header",
            action="append",
            default=[],
            metavar="'NAME: VALUE'",
            help="request header; can be repeated",
        )
        parser.add_argument(
            "--environment", metavar="SLUG", help="environment that defines the variables"
        )
        add_options(parser, "--var")
        add_options(parser, "--timeout", help="timeout of the run in seconds")
        parser.add_argument(
            "--anyway", action="store_true",
            help="send an invalid request unchanged; text that is not a JSON object is the body",
        )  # fmt: skip
        for name, (flags, text) in _RAW.items():
            group = request if name == "body" else parser
            group.add_argument(*flags, metavar=name.upper(), help=text)
        talk = parser.add_argument_group("conversation")
        talk.add_argument(
            "--follow", action="store_true", help="poll a promise until it is settled"
        )
        talk.add_argument(
            "--answers",
            metavar="FILE",
            help="JSON object of answers by question id; - for standard input",
        )
        talk.add_argument(
            "--reply",
            choices=sorted(STRATEGIES),
            help="answer strategy; default: the last one used with the agent",
        )
        talk.add_argument("--conversation", metavar="ID", help="continue a conversation or a run")
        add_options(parser, "--output", choices=["text", "jsonl"])
        parser.add_argument(
            "--fail-on",
            choices=["must", "should"],
            help="exit with 4 if a rule of this level, or a stricter one, fails",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        parent = _turn(options["conversation"])
        prepared = _prepare(options, parent)
        as_json = options["output"] == "jsonl"
        configure_stream(sys.stdout, as_json)
        source = options["answers"]
        answers = None if source is None else document_from(source)
        send_options = SendOptions(
            options["follow"], answers, options["reply"] or "", options["timeout"]
        )
        dialogue = Dialogue(prepared, Printer(as_json), send_options)
        if parent is not None and options["request"] is None:
            dialogue.omissions = follow_up_omissions(parent)
        with ignored_by_runner(not as_json):
            asyncio.run(dialogue.run(RunParent(parent=parent)))
            findings = dialogue.findings()
            dialogue.printer.end(dialogue.last, findings)
            for message in filter(None, (dialogue.unanswered, dialogue.failure_reason)):
                dialogue.printer.print_line(message)
        if dialogue.printer.error:
            raise CommandError(dialogue.printer.error, returncode=1)
        sys.exit(_exit_code(dialogue, findings, options["fail_on"]))


def _turn(name: str | None) -> Run | None:
    """Return the turn to continue from: a run by its id, or the latest turn of a conversation."""
    if name is None:
        return None
    try:
        key = UUID(name)
    except ValueError:
        raise CommandError(
            f"--conversation expects an id, not {name!r}", returncode=USAGE
        ) from None
    runs = Run.objects.filter(owner=None)
    run = runs.filter(pk=key).first() or runs.turns().filter(conversation=key).first()
    if run is None:
        raise CommandError(f"Unknown conversation {name}", returncode=USAGE)
    return turn_of(run)


def _prepare(options: dict[str, Any], parent: Run | None) -> PreparedRequest:
    agent = agent_of(options["agent"])
    version = _set_protocol(agent, options, parent)
    document = _with_raw(_document(options, agent.protocol, version, parent), options)
    for assignment in options["assignments"]:
        _assign(document, assignment)
    pairs = [part.partition(":") for part in options["header"]]
    if any(not colon for _, colon, _ in pairs):
        raise CommandError("--header expects 'Name: value'", returncode=USAGE)
    try:
        headers = parse_header_templates(json.dumps([[name, value] for name, _, value in pairs]))
    except forms.ValidationError as error:
        raise CommandError(error.messages[0], returncode=USAGE) from error
    _set_mcp(agent, options)
    binding = options["binding"] or (parent.binding if parent is not None else None)
    template = preparation.RequestTemplate(
        document,
        headers,
        agent,
        version=version,
        binding=binding_of(agent, binding),
        anyway=options["anyway"],
    )
    environment = options["environment"] or (parent.environment if parent is not None else "")
    scope = preparation.VariableScope(
        environment_of(environment or None), variables_of(options["var"])
    )
    prepared = preparation.prepare(template, scope)
    if prepared.errors:
        errors = [f"{each.pointer or '/'}: {each.message}" for each in prepared.errors]
        if prepared.can_send_anyway:
            errors.append("To send it unchanged, add --anyway.")
        raise CommandError("\n".join(errors), returncode=USAGE)
    return prepared


def _set_protocol(agent: Agent, options: dict[str, Any], parent: Run | None) -> str:
    """Set the agent's protocol, and return the version."""
    protocol = options["protocol"]
    if protocol is None and parent is not None and agent.pk is None:
        protocol = parent.protocol  # A URL does not tell its protocol.
    agent.protocol = protocol or agent.protocol
    known = versions_of(agent)
    earlier = parent.version if parent is not None and parent.protocol == agent.protocol else ""
    version: str = options["protocol_version"] or earlier or agent.version
    if protocol and not options["protocol_version"] and version not in known:
        version = known[-1]
    if version not in known:
        raise CommandError(f"--version must be one of {', '.join(known)}", returncode=USAGE)
    return version


def _set_mcp(agent: Agent, options: dict[str, Any]) -> None:
    """Set the tool, and the version of MCP, for which an earlier handshake does not count."""
    agent.ask_tool = options["tool"] or agent.ask_tool
    version = options["mcp_version"]
    if version is not None:
        version = "" if version == "auto" else version
        agent.handshake = agent.handshake if version == agent.mcp_version else {}
        agent.mcp_version = version


def _document(
    options: dict[str, Any], protocol: str, version: str, parent: Run | None
) -> dict[str, Any]:
    if (source := options["request"]) is not None:
        return document_from(source, parse_document_anyway if options["anyway"] else parse_document)
    text = options["text"] or ""
    if parent is None:
        return registry.of(protocol).new_request(version, text, streaming=True)
    if unknown := preparation.unknown_protocol(parent):
        raise CommandError(unknown, returncode=USAGE)
    # Only placeholders in the text, or of secrets sent before, are the user's: text of an agent is
    # sent back literally.
    document: dict[str, Any] = literal(
        follow_up_document(parent, text), keep={*parent.secret_names, *names_in(text)}
    )
    if options["protocol_version"]:
        document = registry.of(protocol).with_version(document, version)
    return document


def _with_raw(document: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return the document as a raw request, if there are options of one."""
    added = {name: options[name] for name in _RAW if options[name] is not None}
    if not added:
        return document
    if added.get("body", "").startswith("@"):
        data = bytes_from(added["body"][1:])
        try:
            added["body"] = data.decode("utf-8")
        except UnicodeDecodeError:
            added |= {"body": b64encode(data).decode(), "encoding": "base64"}
    is_given = options["text"] is not None or options["request"] is not None
    base = document if is_given else {}
    return {**base, raw.MEMBER: {**(raw.raw_of(base) or {}), **added}}


def _assign(document: dict[str, Any], assignment: str) -> None:
    path, equals, text = assignment.partition("=")
    keys = path.split(".")
    if not equals or not all(keys):
        raise CommandError(f"--set expects path=value, not {assignment!r}", returncode=USAGE)
    value = lenient.decode(text, text)
    place: Any = document
    for key in keys[:-1]:
        place = place.setdefault(key, {})
        if not isinstance(place, dict):
            raise CommandError(f"--set {path}: {key} is not an object", returncode=USAGE)
    place[keys[-1]] = value


def _exit_code(
    dialogue: Dialogue, findings: Sequence[Mapping[str, Any]], fail_on: str | None
) -> int:
    run = dialogue.last
    if run.state != RunState.COMPLETED or dialogue.timed_out:
        return 3
    if dialogue.unanswered:
        return USAGE
    levels = {"must": {"must"}, "should": {"must", "should"}}.get(fail_on or "", set())
    if any(each["verdict"] == "fail" and each["level"] in levels for each in findings):
        return 4
    return 1 if run.outcome == "failure" else 0
