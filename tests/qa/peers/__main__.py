"""Install the packages of the peers and run the tests against them.

Arguments are pytest's, and `--all` for the large packages as well.
"""

from __future__ import annotations

import os
import subprocess
import sys

from tests.qa.peers import HERE, INSTALLED, install


def main(arguments: list[str]) -> int:
    """Return the exit code of pytest."""
    large = "--all" in arguments
    arguments = [argument for argument in arguments if argument != "--all"]
    install(large=large)
    named = any(os.path.exists(argument.partition("::")[0]) for argument in arguments)
    chosen = [] if named else [str(HERE)]
    command = [sys.executable, "-m", "pytest", *chosen, *arguments]
    return subprocess.run(
        command, env={**os.environ, INSTALLED: "all" if large else "most"}, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
