"""Transcript of Chat Completions: a request and its response as rules read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from playground.conformance.rule_input import MAX_PARTS, RuleInput, resolve_prefix
from playground.conformance.shape import Place
from playground.protocols import lenient, sse
from playground.protocols.chat_completions.reader import is_message
from playground.protocols.response import Message, Response


@dataclass(frozen=True, slots=True)
class ChatTranscript:
    """One request and its response: a stream of chunks, or a single completion."""

    version: str
    request: Mapping[str, Any]
    response: Response
    #: Whether it ended as its framing requires, complete, in a run that was not stopped.
    is_complete: bool
    overflowed: bool
    #: The messages, except undecided ones and the last one of a stream, `[DONE]`.
    messages: tuple[Message, ...]
    #: The frames of `[DONE]`.
    done: tuple[int, ...]

    @property
    def completions(self) -> list[Message]:
        """Return the messages that are a completion or a chunk."""
        streamed = self.response.streamed
        return [each for each in self.messages if is_message(each.name, each.payload, streamed)]

    @property
    def choices(self) -> Iterator[tuple[Place, Any]]:
        """Yield each choice, and its index or, without one, its position."""
        for message in self.completions:
            for at, choice in enumerate(lenient.items(message.members.get("choices"))):
                index = lenient.members(choice).get("index", at)
                yield (message.seq, f"/choices/{at}", choice), str(index)

    def resolve_pointer(self, seq: int | None, pointer: str) -> str:
        """Return `pointer` as far as it leads through frame `seq`, plus one missing step."""
        payload = next((each.payload for each in self.messages if each.seq == seq), None)
        return resolve_prefix(payload, pointer) if pointer else ""


def read(rule_input: RuleInput) -> ChatTranscript:
    """Return the transcript of the last response. Never raise, whatever a server sent."""
    response = rule_input.response
    received = response.messages
    ends = [each for each in received if each.text.strip() == sse.DONE and response.streamed]
    others: Iterable[Message] = (each for each in received[:MAX_PARTS] if each not in ends)
    messages = tuple(each for each in others if not each.undecided)
    return ChatTranscript(
        version=rule_input.version,
        request=rule_input.members,
        response=response,
        is_complete=response.ended
        and len(messages) + len(ends) == len(received)
        and not rule_input.was_stopped,
        overflowed=len(received) > MAX_PARTS,
        messages=messages,
        done=tuple(each.seq for each in ends),
    )
