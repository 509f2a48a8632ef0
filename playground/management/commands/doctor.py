"""Examine the connection to an agent from the command line, as its page does.

Exit codes: 0 no step failed, 1 a step failed, 2 usage error.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from playground.engine import doctor
from playground.headless.agents import find_agent
from playground.headless.lines import one_line
from playground.models import Agent
from playground.protocols import registry
from playground.rendering.doctor import text_of

USAGE = 2


class Command(BaseCommand):
    """`python manage.py doctor AGENT`."""

    help = "Examine what answers at an agent's address, step by step, and say what to mend."

    def add_arguments(self, parser: CommandParser) -> None:
        """AGENT, what it is taken for, and how to print."""
        parser.add_argument("agent", help="slug of a saved agent, or a URL")
        parser.add_argument("--protocol", choices=sorted(registry.PROTOCOLS))
        parser.add_argument("--binding", choices=sorted(registry.BINDINGS))
        parser.add_argument("--output", choices=["text", "json"], default="text")

    def handle(self, *args: Any, **options: Any) -> None:
        """Say what is sent, send it, print the report, and exit by how it went.

        What is sent goes to the standard error, the report to the standard output.
        """
        try:
            agent = find_agent(options["agent"])
        except LookupError as error:
            raise CommandError(str(error), returncode=USAGE) from None
        agent.protocol = options["protocol"] or agent.protocol
        agent.binding = options["binding"] or agent.binding
        self._announce(agent)
        report = asyncio.run(doctor.diagnose(agent))
        if options["output"] == "json":
            # ASCII, so that a terminal finds nothing in it to obey.
            self.stdout.write(json.dumps(report, indent=2))
        else:
            for line in text_of(report).splitlines():
                self.stdout.write(one_line(line))
        sys.exit(any(step["status"] == "failed" for step in report["steps"]))

    def _announce(self, agent: Agent) -> None:
        self.stderr.write("Sending harmless calls, as far as they are needed:")
        for call in doctor.planned_calls(agent):
            along = " with the agent's headers" if call.with_credentials else ""
            self.stderr.write(one_line(f"  {call.method} {call.url}{along}"))
        self.stderr.write("")
