"""Command that diagnoses the connection to an agent, like the agent's page.

Exit codes: 0 no step failed, 1 a step failed, 2 usage error.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from django.core.management import CommandParser

from playground.agents import doctor
from playground.cli.arguments import add_options, agent_of
from playground.cli.database_command import DatabaseCommand
from playground.cli.output import one_line
from playground.engine.request import request_to
from playground.models import Agent
from playground.protocols.text import printable_json


class Command(DatabaseCommand):
    """`python manage.py doctor AGENT`."""

    help = "Diagnose the connection to an agent step by step, and suggest fixes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("agent", help="slug of a saved agent, or a URL")
        help_text = "protocol to assume; default: the agent's, nlweb for a URL"
        add_options(parser, "--protocol", help=help_text)
        help_text = "binding to assume; default: the agent's, http for a URL"
        add_options(parser, "--binding", help=help_text)
        add_options(parser, "--output", choices=["text", "json"])

    def handle(self, *args: Any, **options: Any) -> None:
        """Announce the calls, send them, print the report, and exit by its result.

        The announcement goes to standard error, the report to standard output.
        """
        agent = agent_of(options["agent"])
        agent.protocol = options["protocol"] or agent.protocol
        agent.binding = options["binding"] or agent.binding
        self._announce(agent)
        report = asyncio.run(doctor.diagnose(request_to(agent, {})))
        if options["output"] == "json":
            # ASCII, so that it contains no control characters of a terminal.
            self.stdout.write(printable_json(json.dumps(report, indent=2)))
        else:
            for line in doctor.text_of(report).splitlines():
                self.stdout.write(one_line(line))
        sys.exit(any(step["status"] == "failed" for step in report["steps"]))

    def _announce(self, agent: Agent) -> None:
        self.stderr.write("Sending harmless requests, as needed:")
        for call in doctor.planned_calls(agent):
            along = " with the agent's headers" if call.with_credentials else ""
            self.stderr.write(one_line(f"  {call.method} {call.url}{along}"))
        self.stderr.write("")
