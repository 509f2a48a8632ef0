"""Conformance of responses to the specifications: pure rules over transcripts.

==================  =====================================================================
`runner`            running the rules: frames and a request in, a conformance report out
`rulesets`          rule sets: the rules of a protocol over a binding
`findings`          levels, verdicts, findings and the conformance report
`rule`              rule, requirement and violation; the decorator of NLWeb's rules
`examples`          example responses of each rule, in `examples.json`
`locations`         locations that the findings of each rule report, in `locations.json`
`json_text`         rules on JSON itself, for every protocol
`earlier`           facts in earlier responses of a conversation, for rules over several runs
`nlweb`             rules of NLWeb, a module for each part of the specification
`agent_api`         rules of the Agent API, with a transcript of their own
`mcp`               rules of MCP, with a transcript of their own and the NLWeb response in it
`transcript`        transcript of NLWeb: a request and its response as rules read them
`recording_reader`  the NLWeb reader of the playground, recording the payloads that it reads
`http_response`     recorded HTTP response of any protocol
`response_parts`    parts of an NLWeb response, located by JSON pointers
`schema`            validation with the JSON Schemas of NLWeb
`values`            types of JSON values
`uris`              grammar of URIs
==================  =====================================================================

Imports the protocols, jsonschema and RE2, and nothing of runs, pages or the network. `rule`
imports no rule modules; `rulesets` puts their rules together, and `runner` runs them.
"""

from playground.conformance.earlier import EarlierResponses, TaskEnd
from playground.conformance.findings import ConformanceReport, Finding, Level, Verdict
from playground.conformance.nlweb import RULES
from playground.conformance.rule import Rule
from playground.conformance.rulesets import RULESETS, RuleGroup, RuleSet, ruleset
from playground.conformance.runner import run_rules

__all__ = [
    "RULES",
    "RULESETS",
    "ConformanceReport",
    "EarlierResponses",
    "Finding",
    "Level",
    "Rule",
    "RuleGroup",
    "RuleSet",
    "TaskEnd",
    "Verdict",
    "ruleset",
    "run_rules",
]
