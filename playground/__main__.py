"""The command line: `nlweb-playground` of the installed package, `python -m playground`, manage.py.

The first two serve the playground and open it in the browser, unless they get a command.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from playground import __version__
from playground.base.installation import default_data_dir

#: The commands with their help texts. Django would read the settings and load all of them.
COMMANDS = {
    "serve": "Migrate the database, load the shipped collections, and serve the playground.",
    "worker": "Drive the runs that web processes have queued (with PostgreSQL and Redis).",
    "send": "Send a request to an agent and print the response as it arrives.",
    "twin": "Send one request to two targets and compare the responses.",
    "doctor": "Diagnose the connection to an agent step by step, and suggest fixes.",
    "run_collection": "Send the requests of a collection in order, and check their expectations.",
    "export_collection": "Export a collection as a Django fixture for loaddata and"
    " import_collection.",
    "import_collection": "Import a collection: add and update requests; existing requests are not"
    " removed.",
    "prune_history": "Delete the runs beyond the retention limits.",
    "rotate_key": "Encrypt all stored secrets with a new key, in one transaction.",
}

_HELP = """\
usage: {program} [option ...]           serve the playground, and open it in the browser
       {program} command [option ...]   run a command

commands:
{commands}

Options without a command are those of `serve`. `{program} command --help` lists the options of a
command, `{program} help` lists the commands of Django as well, and `{program} --version` prints
the version.

Database, keys and saved collections are in {folder}.
Set the environment variable PLAYGROUND_DATA_DIR to use another folder.
"""


def main() -> None:
    """Run the command of the command line; `serve --browser` if it names none."""
    program, *arguments = sys.argv
    program = "python -m playground" if program == __file__ else Path(program).name
    if arguments in (["--help"], ["-h"]):
        print(_help(program), end="")
        return
    if not arguments or (arguments[0].startswith("-") and arguments != ["--version"]):
        arguments = ["serve", "--browser", *arguments]
    run_command([program, *arguments])


def run_command(argv: Sequence[str]) -> None:
    """Run a command of Django or the playground. An error in the settings is one sentence."""
    if argv[1:] == ["--version"]:
        print(f"nlweb-playground {__version__}")
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")
    # What imports allocate stays. `PlaygroundConfig` enables collection when they are done.
    gc.disable()
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        settings.INSTALLED_APPS  # noqa: B018 (the first access reads the settings)
    except (ImproperlyConfigured, ValueError, OSError) as error:
        sys.exit(f"Error in the settings: {error}")
    execute_from_command_line(list(argv))


def _help(program: str) -> str:
    commands = "\n".join(f"  {name:18} {text}" for name, text in COMMANDS.items())
    folder = os.environ.get("PLAYGROUND_DATA_DIR") or default_data_dir()
    return _HELP.format(program=program, commands=commands, folder=folder)


if __name__ == "__main__":
    main()
