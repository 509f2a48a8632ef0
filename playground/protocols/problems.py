"""Why a run did not complete, in words that help: one record from the wire to the page.

The transport makes them (as `ERROR` frames), exchanges make them (a reply that cannot be
read), the engine stores the one that ended a run, and pages show stage, cause and fix.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


class Stage(enum.StrEnum):
    """How far the run had come."""

    POLICY = "policy"
    RESOLVE = "resolve"
    CONNECT = "connect"
    TLS = "tls"
    SEND = "send"
    HEADERS = "headers"
    BODY = "body"
    LIMIT = "limit"
    DECODE = "decode"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a run ended as it did."""

    #: The final state that it calls for: `failed`, `refused` or `truncated`.
    state: str
    stage: Stage
    #: What happened, as a sentence.
    cause: str
    #: What to do about it, as a sentence.
    fix: str
    #: The error's own words or the bytes that broke it; may be empty.
    detail: str = ""
    #: Name of the limit that was crossed (a field of `playground.limits.Limits`).
    limit: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The problem as a JSON object."""
        return asdict(self)

    def to_bytes(self) -> bytes:
        """The problem as the data of an `ERROR` frame."""
        return json.dumps(self.to_json(), ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The problem that `to_json` wrote. Raises `KeyError` or `ValueError` for others."""
        return cls(
            state=value["state"],
            stage=Stage(value["stage"]),
            cause=value["cause"],
            fix=value["fix"],
            detail=value.get("detail", ""),
            limit=value.get("limit"),
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The problem in the data of an `ERROR` frame."""
        return cls.from_json(json.loads(data))
