"""Command that writes a collection as a Django fixture, to standard output or to a file.

Exit codes: 0 written, 1 the file cannot be written, 2 usage error.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management import CommandError, CommandParser

from playground.cli.arguments import collection_of
from playground.cli.database_command import DatabaseCommand
from playground.collections.fixture import dump


class Command(DatabaseCommand):
    """`python manage.py export_collection SLUG [--output FILE]`."""

    help = "Export a collection as a Django fixture for loaddata and import_collection."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="slug of a collection")
        parser.add_argument(
            "--output", metavar="FILE", help="file to write; default: standard output"
        )

    def handle(self, *args: Any, slug: str, output: str | None, **options: Any) -> None:
        """Write the text, in UTF-8 whatever the terminal's encoding is."""
        data = dump(collection_of(slug)).encode()
        if output is None or output == "-":
            sys.stdout.buffer.write(data)
            return
        try:
            Path(output).write_bytes(data)
        except OSError as error:
            raise CommandError(f"{output}: {error.strerror}", returncode=1) from error
        self.stderr.write(f"Wrote {output}.")
