"""`make examples`, and the build of the package: write the files of `playground.generated`.

    python -m tests.generated              all of them
    python -m tests.generated --outdated   all of them, if a table or the code behind it is newer
    python -m tests.generated --into DIRECTORY

The build of a package has no pytest, so neither this module nor what it imports needs it.
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from playground import generated
from tests.support.environment import without_settings
from tests.support.json_layout import laid_out

#: Folders with the tables, and with the code that says what is in the files.
SOURCES = (
    "tests/conformance",
    "tests/demo",
    "playground/conformance",
    "playground/demo",
    "playground/protocols",
)


def generate(into: Path | None = None) -> None:
    """Write the files into a directory, or where the playground reads them."""
    for path, value in _values():
        write(into / path.name if into else path, laid_out(value))


def write(target: Path, text: str) -> None:
    """Replace a file: a process that reads or writes it at the same time finds all of it."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=target.parent, suffix=".new", delete=False
    ) as file:
        file.write(text)
    written = Path(file.name)
    written.chmod(0o644)  # A temporary file is for its owner alone.
    written.replace(target)


def is_outdated(files: Iterable[Path], folders: Iterable[Path]) -> bool:
    """Return whether one of the files is missing, or older than a module in the folders."""
    if not all(path.exists() for path in files):
        return True
    oldest = min(path.stat().st_mtime for path in files)
    modules = (module for folder in folders for module in folder.rglob("*.py"))
    return any(module.stat().st_mtime > oldest for module in modules)


def _values() -> Iterator[tuple[Path, Any]]:
    """Yield the files and what is in them, from a playground with default settings."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as data:
        for name in os.environ.keys() - without_settings(os.environ).keys():
            del os.environ[name]
        os.environ["PLAYGROUND_DATA_DIR"] = data
        os.environ["DJANGO_SETTINGS_MODULE"] = "playground.settings"
        import django

        django.setup()
        logging.disable(logging.WARNING)  # Some of the requests are to be refused.
        from tests.conformance import examples, locations
        from tests.demo import reference_responses

        yield generated.RULE_EXAMPLES, examples.generated()
        yield generated.RULE_LOCATIONS, locations.generated()
        yield generated.REFERENCE_RESPONSES, reference_responses.generated()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outdated", action="store_true")
    parser.add_argument("--into", type=Path)
    options = parser.parse_args()
    folders = [Path(__file__).parents[1] / folder for folder in SOURCES]
    if not options.outdated or is_outdated(generated.FILES, folders):
        generate(options.into)


if __name__ == "__main__":
    main()
