"""Problems: why a run did not complete; and explanations of error codes.

The transport creates problems (as `ERROR` frames), and so do exchanges (a response that cannot
be read). The engine stores the one that ended a run, with its stage, cause and fix.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

#: Fixes of a call in the wrong one of the two schemes, by which such a problem is recognized.
USE_HTTP = "Use http:// instead of https://."
USE_HTTPS = "Use https:// instead of http://."


class Stage(enum.StrEnum):
    """Stage of a run at which its problem occurred."""

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
    """Reason why a run did not complete, as one record for all layers."""

    #: The final state of the run: `failed`, `refused`, `truncated` or `interrupted`.
    state: str
    stage: Stage
    #: What happened, as a sentence.
    cause: str
    #: How to fix it, as a sentence.
    fix: str
    #: The text of the error or the offending bytes; may be empty.
    detail: str = ""
    #: Name of the exceeded limit: a field of `playground.base.limits.RunLimits`, or "quota".
    limit: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def to_bytes(self) -> bytes:
        return json.dumps(self.to_json(), ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Raises `KeyError` or `ValueError` for what `to_json` did not write."""
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
        return cls.from_json(json.loads(data))


@dataclass(frozen=True, slots=True)
class CodeExplanation:
    """The meaning of an error code and what to do about it, a sentence each."""

    meaning: str
    advice: str
