"""Is this reply what the specification asks for? Pure rules over a transcript.

=============  =====================================================================
`judging`      `judge`: frames and a request in, a `Report` out
`books`        which rules there are for a protocol over a binding
`findings`     levels, verdicts, findings, reports
`rule`         what a rule is
`rules`        the rules of NLWeb, a module for each part of the specification
`agent_api`    the rules of the Agent API, with their own transcript
`mcp`          the rules of MCP, with their own transcript, and the NLWeb reply within
`transcript`   a reply of NLWeb as its rules see it
`recorder`     the playground's own reader, which notes what it reads
`transfer`     a reply of any protocol as it crossed the wire
`parts`        where the parts of an NLWeb reply stand, as JSON pointers
`schema`       the JSON Schemas, compiled, and what they find
=============  =====================================================================

Knows the protocols and jsonschema, and nothing of runs, pages or the network.
"""

from playground.conformance.findings import ConformanceReport, Finding, Level, Verdict
from playground.conformance.nlweb import RULES
from playground.conformance.rule import Rule
from playground.conformance.rulesets import RULESETS, RuleGroup, RuleSet, ruleset
from playground.conformance.runner import run_rules

__all__ = [
    "RULES",
    "RULESETS",
    "ConformanceReport",
    "Finding",
    "Level",
    "Rule",
    "RuleGroup",
    "RuleSet",
    "Verdict",
    "ruleset",
    "run_rules",
]
