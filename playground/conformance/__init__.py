"""Conformance of responses to the specifications: pure rules over transcripts.

Imports the protocols, jsonschema and RE2, and nothing of runs, pages or the network. `rule` and
`shape` import no rule modules; `rulesets` puts their rules together, and `runner` runs them.
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
