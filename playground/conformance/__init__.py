"""Is this reply what the specification asks for? Pure rules over a transcript.

=============  =====================================================================
`judging`      `judge`: frames and a request in, a `Report` out
`findings`     levels, verdicts, findings, reports
`transcript`   a reply as the rules see it, read by the playground's own readers
`parts`        where the parts of a reply stand, as JSON pointers
`rule`         what a rule is
`rules`        the rules, a module for each part of the specification
`schema`       the JSON Schemas, compiled, and what they find
=============  =====================================================================

Knows the protocols and jsonschema, and nothing of runs, pages or the network.
"""

from playground.conformance.findings import Finding, Level, Report, Verdict
from playground.conformance.judging import judge
from playground.conformance.rule import Rule
from playground.conformance.rules import RULES

__all__ = ["RULES", "Finding", "Level", "Report", "Rule", "Verdict", "judge"]
