"""The version table of NLWeb: one row each, and no `if version ==` anywhere else."""

from __future__ import annotations

from types import MappingProxyType

from playground.protocols.exchange import Version

#: Response types, in the spelling of 0.55 (section 4). 0.54 writes them capitalised in its
#: text and in lower case in its examples; the reader accepts any capitalisation.
RESPONSE_TYPES = ("answer", "elicitation", "promise", "failure")

#: Formats of an answer (0.55, section 3.3.1; 0.54, section 4.1.1). The first is the default.
RESPONSE_FORMATS = ("conversational_search", "chatgpt_app")

#: The versions of the specification.
VERSIONS: tuple[Version, ...] = (
    Version(
        "0.54",
        "NLWeb 0.54",
        MappingProxyType(
            {
                # Section 3.4 names `api_version`, every example writes `version`.
                "version_fields": ("version", "api_version"),
                # Section 4: "meta or _meta".
                "meta_fields": ("_meta", "meta"),
                # HTTP examples, section 5.
                "stream_events": ("start", "result", "content", "complete", "end"),
                "question_types": ("single_select", "multi_select"),
                "error_codes": ("NO_RESULTS",),
                # HTTP examples, section 2: the summary is in `_meta.summary`.
                "summary_in": "meta",
                # Section 3.3.1 names no default.
                "default_format": None,
            }
        ),
    ),
    Version(
        "0.55",
        "NLWeb 0.55",
        MappingProxyType(
            {
                # Appendix D: `version` throughout, requests `meta`, responses `_meta`.
                "version_fields": ("version",),
                "meta_fields": ("_meta",),
                # Section 6.1.
                "stream_events": ("start", "result", "error", "complete"),
                # Section 4.1.3.
                "question_types": (
                    "single_select",
                    "multi_select",
                    "free_text",
                    "number",
                    "boolean",
                ),
                # Section 4.1.4; CANCELLED is from section 4.2.
                "error_codes": (
                    "NO_RESULTS",
                    "INVALID_QUERY",
                    "UNSUPPORTED_FORMAT",
                    "UNSUPPORTED_MODE",
                    "RATE_LIMITED",
                    "INTERNAL_ERROR",
                    "TIMEOUT",
                    "TOKEN_LIMIT",
                    "CANCELLED",
                ),
                # Section 4.1.1: an item of type SearchSummary.
                "summary_in": "item",
                # Section 3.3.1.
                "default_format": RESPONSE_FORMATS[0],
            }
        ),
    ),
)

#: The legacy server, from before the specification: its requests are flat, its messages are
#: told apart by `message_type`. No rule of the specification applies to it.
LEGACY = Version(
    "legacy",
    "Legacy NLWeb",
    MappingProxyType(
        {
            "version_fields": ("version", "api_version"),
            "meta_fields": ("_meta",),
            "stream_events": (),
            "question_types": (),
            "error_codes": (),
            "summary_in": "message",
            "default_format": None,
            # Requests are flat parameters: see `playground.protocols.nlweb.legacy`.
            "flat": True,
        }
    ),
)

#: Every supported version, oldest first.
SUPPORTED_VERSIONS: tuple[Version, ...] = (LEGACY, *VERSIONS)

_BY_NAME = {version.name: version for version in SUPPORTED_VERSIONS}


def is_flat(name: str) -> bool:
    """Return whether requests of this version are flat parameters. Raises like `get_version`."""
    return "flat" in get_version(name).traits


def get_version(name: str) -> Version:
    """Raises `ValueError` for a version that is not in the table."""
    try:
        return _BY_NAME[name]
    except KeyError:
        known = ", ".join(_BY_NAME)
        raise ValueError(f"Unknown NLWeb version {name!r}. Supported: {known}.") from None
