"""`make examples`, and the build of the package: write the files of `playground.generated`.

    python -m tests.generated              all of them
    python -m tests.generated --missing    all of them, if one is missing
    python -m tests.generated --into DIRECTORY

The build of a package has no pytest, so neither this module nor what it imports needs it.
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playground import generated
from tests.support.environment import without_settings
from tests.support.json_layout import laid_out


def generate(into: Path | None = None) -> None:
    """Write the files into a directory, or where the playground reads them."""
    for path, value in _values():
        target = into / path.name if into else path
        # A process that reads at the same time finds a whole file or none.
        written = target.with_suffix(".new")
        written.write_text(laid_out(value), "utf-8")
        written.replace(target)


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
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--into", type=Path)
    options = parser.parse_args()
    if not options.missing or generated.missing():
        generate(options.into)


if __name__ == "__main__":
    main()
