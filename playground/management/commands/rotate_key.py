"""Command that replaces the key of the stored secrets."""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.management import CommandError

from playground.base.private_files import next_key_path, read_or_create_key, replace_key
from playground.cli.database_command import DatabaseCommand
from playground.models.key_rotation import commits_on_disk, rotate

NO_OLD_KEY = (
    "PLAYGROUND_KEY is set in the environment. Set it to the new key, set "
    "PLAYGROUND_OLD_KEY to the old one, and run the command again."
)


class Command(DatabaseCommand):
    """`python manage.py rotate_key`."""

    help = (
        "Encrypt all stored secrets with a new key, in one transaction. Stop every process of the"
        " playground first: a running process keeps using the old key. Without PLAYGROUND_KEY in"
        " the environment, a new key is generated and replaces encryption-key in the data"
        " directory. Until all values are stored, the new key is in encryption-key.next; "
        "an interrupted command can be run again. With PLAYGROUND_KEY in the environment, "
        "set it to the new key"
        " and PLAYGROUND_OLD_KEY to the old one, run the command, and unset PLAYGROUND_OLD_KEY."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Encrypt all values with the new key, then make it the only one."""
        if os.environ.get("PLAYGROUND_KEY"):
            if not os.environ.get("PLAYGROUND_OLD_KEY"):
                raise CommandError(NO_OLD_KEY, returncode=2)
            with commits_on_disk():
                count, lost = rotate(settings.PLAYGROUND_KEY, settings.PLAYGROUND_OTHER_KEYS)
            advice = "Remove PLAYGROUND_OLD_KEY from the environment now."
        else:
            path = settings.DATA_DIR / "encryption-key"
            # A key of an interrupted rotation is used again.
            key = read_or_create_key(next_key_path(path))
            with commits_on_disk():
                count, lost = rotate(
                    key, [settings.PLAYGROUND_KEY, *settings.PLAYGROUND_OTHER_KEYS]
                )
            replace_key(path)
            advice = (
                "Restart the playground. The previous key is stored as "
                "encryption-key.previous, for values written by a process that was not "
                "stopped. You can delete it later."
            )
        self.stdout.write(f"{count} value{'' if count == 1 else 's'} encrypted with the new key.")
        if lost:
            self.stdout.write(
                f"{lost} could not be decrypted with any key and were left unchanged."
            )
        self.stdout.write(advice)
