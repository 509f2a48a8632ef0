"""The installation: a checkout of the repository, or a package that pip installed.

Templates, static files and fixtures are at the top of a checkout. The wheel has them in
`playground/files/`, see pyproject.toml. Imported by the settings, so it must not import Django.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_WHEEL_FILES = _PACKAGE / "files"

#: Whether this is an installed package, and not a checkout.
INSTALLED = _WHEEL_FILES.is_dir()
#: Folder of `templates`, `static` and `fixtures`.
FILES_DIR = _WHEEL_FILES if INSTALLED else _PACKAGE.parent


def default_data_dir() -> Path:
    """Return the default of PLAYGROUND_DATA_DIR: `var`, or the data folder of the user."""
    if not INSTALLED:
        return FILES_DIR / "var"
    import platformdirs  # A checkout does not need it.

    return Path(platformdirs.user_data_dir("nlweb-playground", appauthor=False))


def default_fixtures_dir(data_dir: Path) -> Path:
    """Return the default of PLAYGROUND_FIXTURES_DIR; an installed package is not written to."""
    return (data_dir if INSTALLED else FILES_DIR) / "fixtures"


def start_command(port: int) -> str:
    return f"nlweb-playground --port {port}" if INSTALLED else f"make run PORT={port}"


def install_command(extra: str) -> str:
    return f'pip install "nlweb-playground[{extra}]"' if INSTALLED else "make setup"


def command_line(command: str) -> str:
    """Return how a command is run, for messages."""
    return f"{'nlweb-playground' if INSTALLED else 'manage.py'} {command}"
