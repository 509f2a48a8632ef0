"""Conformance of responses to the specifications: pure rules over transcripts.

Imports the protocols, jsonschema and RE2, and nothing of runs, pages or the network. `rule` and
`shape` import no rule modules; `runner` puts their rules together and runs them.
"""

from playground.conformance.nlweb import RULES
from playground.conformance.rule import ConformanceReport, Finding, Level, Rule, Verdict
from playground.conformance.rule_input import EarlierResponses, TaskEnd
from playground.conformance.runner import RULESETS, RuleGroup, RuleSet, ruleset, run_rules

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
