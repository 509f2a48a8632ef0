"""Limits of a run, as one record of settings.

Pure: imported by the settings and handed to the transport, which enforces it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The limits of one run. Each has an environment variable, `PLAYGROUND_<NAME>`."""

    #: Bytes of a response, after decompression.
    max_bytes: int = 32 * MIB
    #: Frames of a run.
    max_frames: int = 100_000
    #: Interim responses (1xx) of a run.
    max_interim_responses: int = 100
    #: Nesting of JSON objects and arrays.
    max_depth: int = 100
    #: Seconds to resolve, connect and finish the TLS handshake.
    connect_timeout: float = 10.0
    #: Seconds for the response to `server/discover`, after which MCP falls back to `initialize`.
    mcp_discovery_timeout: float = 3.0
    #: Seconds without a single byte; heartbeats count as bytes.
    idle_timeout: float = 60.0
    #: Seconds for the whole run.
    total_timeout: float = 600.0
    #: Unfinished runs per user.
    max_runs: int = 20
    #: Promises that are polled at once, per user.
    max_promises: int = 50

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> RunLimits:
        """The defaults, overridden by `PLAYGROUND_MAX_BYTES` and its like.

        Raises `ValueError`, naming the variable, for a value that is not a positive number.
        """
        values: dict[str, int | float] = {}
        for field in fields(cls):
            name = f"PLAYGROUND_{field.name.upper()}"
            if not (text := environment.get(name, "").strip()):
                continue
            kind: type[int] | type[float] = int if isinstance(field.default, int) else float
            try:
                values[field.name] = kind(text)
            except ValueError:
                raise ValueError(f"{name} must be a number, not {text!r}") from None
            if not 0 < values[field.name] < math.inf:
                raise ValueError(f"{name} must be finite and greater than zero, not {text!r}")
        return cls(**values)  # type: ignore[arg-type]

    def at_most(self, **bounds: float) -> RunLimits:
        """Return these limits with those named in `bounds` lowered to the bounds given."""
        lowered = {name: min(getattr(self, name), bound) for name, bound in bounds.items()}
        return replace(self, **lowered)


#: Extension of the scope of a request: a function that returns whether its client has disconnected.
IS_GONE = "playground.is_gone"


@dataclass(slots=True)
class PageBudget:
    """Limit of the Markdown on one page; none is rendered without a reader."""

    #: Returns whether its reader has gone.
    is_gone: Callable[[], bool]
    #: Characters of Markdown. The worst take a second.
    characters: int = 100_000


#: The budget of the page that is rendered; None outside of requests.
page_budget: ContextVar[PageBudget | None] = ContextVar("page_budget", default=None)
