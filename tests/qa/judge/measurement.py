"""Feed mutants to the rules, and compare what they find with what the specification says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from playground.base.limits import RunLimits
from playground.conformance import ConformanceReport, Finding, Verdict, run_rules
from playground.protocols.frames import Frame, FrameKind
from playground.transport.recorder import BodyRecorder, RemainingLimits
from playground.transport.redaction import Redactor
from tests.qa.judge.mutants import RPC_ID, Mutant, Place, Response

LEVELS = ("must", "should", "info")


@dataclass(frozen=True)
class Judged:
    """A mutant, and the violations that the rules found in it."""

    mutant: Mutant
    violations: tuple[Finding, ...]
    right: bool


@dataclass
class Rate:
    """The number of mutants of one kind that were judged correctly, of all."""

    right: int = 0
    total: int = 0

    @property
    def share(self) -> float:
        return self.right / self.total if self.total else 1.0


@dataclass(frozen=True)
class Rates:
    """Both rates of a set and a protocol."""

    deviations: Rate
    conforming: Rate


def frames_of(mutant: Mutant) -> list[Frame]:
    """Return the frames that the playground would have recorded."""
    response = mutant.response
    frames = [
        Frame(0, 0, FrameKind.CALL, _call(mutant)),
        Frame(0, 0, FrameKind.HEAD, _head(response)),
    ]
    media_type = next(
        (text for name, text in response.headers if name.lower() == "content-type"), ""
    )
    recorder = BodyRecorder(
        media_type, "", RemainingLimits.of(RunLimits()), Redactor(), frames.extend
    )
    recorder.add(response.body)
    for _ in recorder.finish(0, clean=True):
        pass
    frames.append(Frame(0, 0, FrameKind.END))
    return [
        Frame(seq, seq * 1000, frame.kind, frame.data) for seq, frame in enumerate(frames, start=1)
    ]


def _call(mutant: Mutant) -> bytes:
    document = dict(mutant.request)
    path = f"/{mutant.operation}"
    if mutant.binding == "mcp":
        path = "/mcp"
        params = {"name": mutant.operation, "arguments": document}
        document = {"jsonrpc": "2.0", "id": RPC_ID, "method": "tools/call", "params": params}
    head = f"POST {path} HTTP/1.1\r\nHost: agent.example\r\nContent-Type: application/json\r\n\r\n"
    return head.encode() + json.dumps(document).encode()


def _head(response: Response) -> bytes:
    lines = "".join(f"{name}: {text}\r\n" for name, text in response.headers)
    return f"HTTP/1.1 {response.status} Status\r\n{lines}\r\n".encode()


def judge(mutant: Mutant) -> Judged:
    """Run the rules on a mutant."""
    frames = frames_of(mutant)
    report: ConformanceReport = run_rules(
        frames,
        mutant.request,
        mutant.version,
        protocol=mutant.protocol,
        binding=mutant.binding,
        operation=mutant.operation,
    )
    violations = tuple(found for found in report.findings if found.verdict is Verdict.FAIL)
    return Judged(mutant, violations, _right(mutant, violations, frames))


def _right(mutant: Mutant, violations: Iterable[Finding], frames: list[Frame]) -> bool:
    """Return whether the verdict is that of the specification.

    A conforming reply has no violation of must or should. A deviation has one of its level at one
    of its places, and none of a stricter level there.
    """
    if not mutant.level:
        return not any(found.level.value in ("must", "should") for found in violations)
    events = [frame.seq for frame in frames if frame.kind is FrameKind.EVENT]
    there = [
        found
        for found in violations
        if not mutant.pointers or any(_at(found, place, events) for place in mutant.pointers)
    ]
    stricter = LEVELS[: LEVELS.index(mutant.level)]
    levels = {found.level.value for found in there}
    return mutant.level in levels and not levels.intersection(stricter)


def _at(found: Finding, place: Place, events: list[int]) -> bool:
    """Return whether a finding stands at a place, above it or below it."""
    if place.event is not None and found.seq in events and found.seq != events[place.event]:
        return False
    ours, theirs = place.pointer.split("/"), found.pointer.replace("#", "").split("/")
    shared = min(len(ours), len(theirs))
    return ours[:shared] == theirs[:shared]


def rates(judged: Iterable[Judged]) -> dict[str, Rates]:
    """Return both rates by protocol, version and binding."""
    made: dict[str, Rates] = {}
    for each in judged:
        mutant = each.mutant
        protocol = f"{mutant.protocol} {mutant.version} {mutant.binding}"
        both = made.setdefault(protocol, Rates(Rate(), Rate()))
        rate = both.deviations if mutant.level else both.conforming
        rate.total += 1
        rate.right += each.right
    return made


def explained(judged: Judged) -> Iterator[str]:
    """Yield the lines that tell what was expected of a mutant, and what was found."""
    mutant = judged.mutant
    yield mutant.name
    yield f"    {mutant.sentence}"
    places = ", ".join(_place(place) for place in mutant.pointers) or "anywhere"
    expected = f"{mutant.level} at {places}" if mutant.level else "no must and no should"
    yield f"    expected: {expected}"
    for found in judged.violations:
        yield (
            f"    found: {found.level.value} {found.rule} at {found.pointer or '/'} "
            f"(frame {found.seq}): {found.message}"
        )
    if not judged.violations:
        yield "    found: nothing"


def _place(place: Place) -> str:
    event = "" if place.event is None else f" of event {place.event}"
    return f"{place.pointer or '/'}{event}"
