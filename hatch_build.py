"""A hook of the build: generates the files that Git ignores. An sdist has them, and no tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GeneratedFiles(BuildHookInterface[Any]):
    """Runs `tests.generated` where the tests are."""

    @property
    def _has_tests(self) -> bool:
        return Path(self.root, "tests").is_dir()

    def dependencies(self) -> list[str]:
        """Return what the generators import: the package, in a build that pip isolates."""
        return list(self.metadata.core.dependencies) if self._has_tests else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files before they are collected."""
        if self._has_tests:
            subprocess.run([sys.executable, "-m", "tests.generated"], cwd=self.root, check=True)
