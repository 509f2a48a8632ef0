"""`make examples`: the locations of the rules, from all responses in the tables of their tests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from playground.conformance import RULESETS, ConformanceReport, Verdict
from playground.conformance.locations import RuleLocation
from playground.protocols import json_decoder
from playground.protocols.explanations import schema_of_response
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.json_pointer import descend, keys_of, pointer_of, resolve
from playground.protocols.registry import schema_of_request
from playground.protocols.response import Response
from tests.conformance.scripts import VERSION, ScriptedResponse
from tests.conformance.tables import CASES

#: Rules that read JSON text, whatever its names.
_ON_TEXT = {
    rule.id
    for ruleset in RULESETS.values()
    for group in ruleset.groups
    if group.slug == "json"
    for rule in group.rules
}


def locations() -> dict[str, set[RuleLocation]]:
    """The locations of every rule that has one, in the order of the rule sets."""
    rules = dict.fromkeys(rule.id for ruleset in RULESETS.values() for rule in ruleset.rules)
    found: dict[str, set[RuleLocation]] = {rule: set() for rule in rules}
    for case in CASES:
        for version in case.levels:
            for response, _ in case.bad:
                for rule, location in _of(response, version):
                    found[rule].add(location)
    return {rule: each for rule, each in found.items() if each and rule not in _ON_TEXT}


def _of(response: ScriptedResponse, version: str) -> Iterator[tuple[str, RuleLocation]]:
    yield from locations_in(response.report_for(version), list(_frames(response, version)))


def _frames(response: ScriptedResponse, version: str) -> Iterator[Frame]:
    for frame in response.frames:
        yield frame.with_data(frame.data.replace(VERSION.encode(), version.encode()))


def generated() -> dict[str, list[str]]:
    """What `read_locations` reads."""
    return write_locations(locations())


def write_locations(locations: Mapping[str, Iterable[RuleLocation]]) -> dict[str, list[str]]:
    return {
        rule: sorted(f"{each.protocol}/{each.version}/{each.schema}#{each.pointer}" for each in of)
        for rule, of in locations.items()
    }


# The location of a finding

#: The schema of JSON-RPC messages.
_MCP = ("mcp", "1", "message")
#: The schema of response headers, and names of headers as messages write them.
_HEADERS = ("http", "1", "response-headers")
_HEADER_NAME = re.compile(r"(?<![\w-])(?:[A-Z][A-Za-z0-9]*-)+[A-Z][A-Za-z0-9]*(?![\w-])")


def locations_in(
    report: ConformanceReport, frames: Sequence[Frame]
) -> Iterator[tuple[str, RuleLocation]]:
    """Yield the rules that failed in a report, with the locations of their findings."""
    for finding in report.findings:
        if finding.verdict is Verdict.FAIL:
            found = locate(
                report.protocol,
                report.version,
                frames,
                finding.seq,
                finding.pointer,
                binding=report.binding,
            )
            if found is not None:
                yield finding.rule, found
            elif _kind(frames, finding.seq) is FrameKind.HEAD:
                for name in header_names(finding.message):
                    yield finding.rule, RuleLocation(*_HEADERS, pointer_of([name]))


def header_names(message: str) -> list[str]:
    """Return the headers that a message names, in lower case.

    Only those with a hyphen: the others are words.
    """
    return list(dict.fromkeys(name.lower() for name in _HEADER_NAME.findall(message)))


def _kind(frames: Sequence[Frame], seq: int | None) -> FrameKind | None:
    return next((frame.kind for frame in frames if frame.seq == seq), None)


def locate(
    protocol: str,
    version: str,
    frames: Sequence[Frame],
    seq: int | None,
    pointer: str,
    *,
    binding: str = "http",
) -> RuleLocation | None:
    """Return the location that a pointer into a frame leads to; None if it has no JSON object."""
    kind, name, document = _json_of(frames, seq)
    if not isinstance(document, dict):
        return None
    if binding == "mcp":
        outer, mark, inner = pointer.partition("#")
        if not mark:
            return RuleLocation(*_MCP, _with_elements(document, pointer))
        try:
            document, pointer = json.loads(resolve(document, outer)), inner
        except (LookupError, TypeError, ValueError):
            return None
        if not isinstance(document, dict):
            return None
        kind, name = FrameKind.BODY, ""
    if kind is FrameKind.CALL:
        schema = schema_of_request(protocol, document)
    else:
        schema = schema_of_response(protocol, version, document, name)
    return RuleLocation(protocol, version, schema, _with_elements(document, pointer))


def _json_of(frames: Sequence[Frame], seq: int | None) -> tuple[FrameKind, str, Any]:
    """Return the kind of a frame, the name of its event and its JSON; None for no JSON.

    That of an end is the whole body.
    """
    at = next((at for at, frame in enumerate(frames) if frame.seq == seq), None)
    if at is None:
        return FrameKind.END, "", None
    kind = frames[at].kind
    if kind is FrameKind.CALL:
        body = frames[at].data.partition(b"\r\n\r\n")[2]
        return kind, "", json_decoder.read_event(body.decode("utf-8", "replace"))[0]
    head = max((n for n in range(at) if frames[n].kind is FrameKind.HEAD), default=0)
    messages = Response(tuple(frames[head : at + 1])).messages
    found = next((each for each in messages if each.seq == seq and each.framed), None)
    return (kind, found.name or "", found.payload) if found else (kind, "", None)


def _with_elements(document: Any, pointer: str) -> str:
    """Return a pointer with `0` for every element of an array."""
    keys: list[str] = []
    value = document
    for key in keys_of(pointer):
        keys.append("0" if isinstance(value, list) else key)
        try:
            value = descend(value, key)
        except LookupError:
            value = None
    return pointer_of(keys)
