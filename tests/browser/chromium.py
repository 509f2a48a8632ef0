"""Where Chromium is: the system's, or Playwright's own, downloaded when there is none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

#: Names of the commands; the first one has no windows, and takes less time to start and to draw.
WITHOUT_WINDOWS = "chromium-headless-shell"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def system_chromium(*first: str) -> str | None:
    """The path of a Chromium that the system has installed, of the `first` names if possible."""
    return next((path for name in (*first, *NAMES) if (path := shutil.which(name))), None)


def playwright_chromium() -> str | None:
    """The path of the Chromium that Playwright has downloaded."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def launch_options(*first: str) -> dict[str, object]:
    """Playwright's launch options for whichever Chromium there is, of the `first` names if any."""
    options: dict[str, object] = {"args": ARGUMENTS}
    if path := system_chromium(*first):
        options["executable_path"] = path
    return options


def main() -> int:
    """Make sure that there is one; say how to get one if that fails."""
    if system_chromium(WITHOUT_WINDOWS) or playwright_chromium():
        return 0
    print("No Chromium found; Playwright downloads its own (once) …")
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    if subprocess.run(command, check=False).returncode == 0:
        return 0
    print("That failed. Install Chromium with the system's package manager, and try again.")
    return 1


if __name__ == "__main__":
    sys.exit(main())
