"""Rule sets: the rules of a protocol over a binding, and the readers of their transcripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from playground.conformance import agent_api, chat_completions, json_text, mcp, transcript
from playground.conformance.json_text import JsonTranscript
from playground.conformance.nlweb import CONTENT_RULES, RULES
from playground.conformance.rule import AnyTranscript, Rule
from playground.conformance.rule_input import RuleInput
from playground.protocols import json_pointer
from playground.protocols.nlweb import versions


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Rules that read the same transcript."""

    #: The label on pages.
    title: str
    #: One word, for anchors.
    slug: str
    rules: tuple[Rule[Any], ...]
    #: The description on the rules page.
    about: str = ""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules of a protocol over a binding."""

    groups: tuple[RuleGroup, ...]
    #: Returns a transcript for each group; None if its rules do not apply to the run.
    read: Callable[[RuleInput], tuple[AnyTranscript | None, ...]]

    @property
    def rules(self) -> tuple[Rule[Any], ...]:
        """Return every rule, in the order of a report."""
        return tuple(rule for group in self.groups for rule in group.rules)

    @property
    def versions(self) -> tuple[str, ...]:
        """Return the versions that have rules, oldest first."""
        return tuple(sorted({name for rule in self.rules for name in rule.requirements}))


def _is_nlweb(rule_input: RuleInput) -> bool:
    return rule_input.operation in ("ask", "await")


def _read_nlweb(rule_input: RuleInput) -> tuple[AnyTranscript | None, AnyTranscript | None]:
    if not _is_nlweb(rule_input):
        return None, None
    return transcript.read(rule_input), _read_json(rule_input)


def _read_mcp(
    rule_input: RuleInput,
) -> tuple[AnyTranscript | None, AnyTranscript, AnyTranscript]:
    mcp_transcript = mcp.read(rule_input)
    nlweb_transcript = mcp.inner(mcp_transcript, rule_input) if _is_nlweb(rule_input) else None
    responses = (call.http_response for call in mcp_transcript.calls)
    texts = json_text.texts_of(message for each in responses for message in each.messages)
    nested = JsonTranscript(rule_input.version, (*texts, *_nested_text(mcp_transcript)))
    return nlweb_transcript, mcp_transcript, nested


def _nested_text(t: mcp.McpTranscript) -> Iterator[json_text.JsonText]:
    """Yield the string with the NLWeb response, if it is in one."""
    pointer = t.found.response_location.response if t.found else ""
    if t.answer and pointer.endswith("#"):
        payload = t.by_frame[t.answer.seq].payload
        text = json_pointer.resolve(payload, pointer.removesuffix("#"))
        yield json_text.JsonText(t.answer.seq, text, pointer=pointer)


def _read_agent_api(rule_input: RuleInput) -> tuple[AnyTranscript, AnyTranscript]:
    return agent_api.read(rule_input), _read_json(rule_input)


def _read_chat(rule_input: RuleInput) -> tuple[AnyTranscript, AnyTranscript]:
    return chat_completions.read(rule_input), _read_json(rule_input)


def _read_json(rule_input: RuleInput) -> JsonTranscript:
    texts = json_text.texts_of(rule_input.response.messages)
    return JsonTranscript(rule_input.version, tuple(texts))


_ABOUT_NLWEB = (
    "The response of an NLWeb agent over any binding. Over MCP the rules about HTTP and "
    "event streams do not apply, and locations start at the JSON-RPC message: "
    "/result/content/0/text#/results/0 is the first result of the JSON in the first text."
)
_ABOUT_MCP = (
    "The messages of an MCP server that carry an NLWeb response: JSON-RPC, handshake, "
    "tools, shape of results, elicitations and notifications. Sections that name MCP or JSON-RPC "
    "are those of the MCP and JSON-RPC specifications."
)
_ABOUT_JSON = (
    "The JSON of a body, of each event, and of a string that holds a response: the same "
    "rules for every protocol and binding. Clients may reject or misread what they report."
)
_ABOUT_CHAT = "The response of a Chat Completions server, as one document or as a stream of chunks."
_ABOUT_AGENT_API = "The response of an Agent API agent, as one document or as a stream of objects."


def _json_group(versions: Iterable[str]) -> RuleGroup:
    return RuleGroup("JSON", "json", json_text.rules(versions), _ABOUT_JSON)


_NLWEB_JSON = _json_group(version.name for version in versions.VERSIONS)

#: By protocol and binding.
RULESETS: Mapping[tuple[str, str], RuleSet] = {
    ("nlweb", "http"): RuleSet(
        (RuleGroup("NLWeb", "nlweb", RULES, _ABOUT_NLWEB), _NLWEB_JSON), _read_nlweb
    ),
    # NLWeb's rules on HTTP and streams do not apply over MCP, which has its own.
    ("nlweb", "mcp"): RuleSet(
        (
            RuleGroup("NLWeb", "nlweb", CONTENT_RULES, _ABOUT_NLWEB),
            RuleGroup("MCP", "mcp", mcp.RULES, _ABOUT_MCP),
            _NLWEB_JSON,
        ),
        _read_mcp,
    ),
    ("agent-api", "http"): RuleSet(
        (
            RuleGroup("Agent API", "agent-api", agent_api.RULES, _ABOUT_AGENT_API),
            _json_group([agent_api.VERSION]),
        ),
        _read_agent_api,
    ),
    ("chat-completions", "http"): RuleSet(
        (
            RuleGroup("Chat Completions", "chat-completions", chat_completions.RULES, _ABOUT_CHAT),
            _json_group([chat_completions.VERSION]),
        ),
        _read_chat,
    ),
}
_EMPTY = RuleSet((), lambda _: ())


def ruleset(protocol: str, binding: str = "http") -> RuleSet:
    """Return the rules of a protocol over a binding; an empty rule set if there are none."""
    return RULESETS.get((protocol, binding), _EMPTY)
