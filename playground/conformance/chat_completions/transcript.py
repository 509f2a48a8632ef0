"""Transcript of Chat Completions: a request and its response as rules read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
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

    by_frame: Mapping[int | None, Message]
    #: The messages that are a completion or a chunk.
    completions: tuple[Message, ...]
    #: Each choice, with its index or, without one, its position.
    choices: tuple[tuple[Place, str], ...]

    def resolve_pointer(self, seq: int | None, pointer: str) -> str:
        """Return `pointer` as far as it leads through frame `seq`, plus one missing step."""
        message = self.by_frame.get(seq)
        return resolve_prefix(message.payload, pointer) if message and pointer else ""


def read(rule_input: RuleInput) -> ChatTranscript:
    """Return the transcript of the last response. Never raise, whatever a server sent."""
    response = rule_input.response
    received = response.messages
    ends = [each.seq for each in received if response.streamed and each.text.strip() == sse.DONE]
    others = (each for each in received if not response.streamed or each.text.strip() != sse.DONE)
    messages = tuple(each for each in islice(others, MAX_PARTS) if not each.undecided)
    completions = tuple(
        each for each in messages if is_message(each.name, each.payload, response.streamed)
    )
    return ChatTranscript(
        version=rule_input.version,
        request=rule_input.members,
        response=response,
        is_complete=response.ended
        and len(messages) + len(ends) == len(received)
        and not rule_input.was_stopped,
        overflowed=len(received) > MAX_PARTS,
        messages=messages,
        done=tuple(ends),
        by_frame={each.seq: each for each in messages},
        completions=completions,
        choices=tuple(_choices(completions)),
    )


def _choices(completions: Iterable[Message]) -> Iterator[tuple[Place, str]]:
    for message in completions:
        for at, choice in enumerate(lenient.items(message.members.get("choices"))):
            index = lenient.members(choice).get("index", at)
            yield (message.seq, f"/choices/{at}", choice), str(index)
