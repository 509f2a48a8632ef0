"""Collections as plain Django fixtures: what the rest of the playground uses.

`dump` writes the text of a collection, `dump_part` that of a folder or a request. `read` takes
any text and checks it, `plan` says what taking it in would do, and `take_in` does it, all or
nothing; `apply` carries out what was planned before. `restore` puts back what `dump_part` wrote
before it was deleted. `render` writes a fixture that was made from something else.
"""

from playground.library.comparing import Change, Difference, compare
from playground.library.dumping import dump, dump_part, fixture_of
from playground.library.parsing import read
from playground.library.planning import Owner, Plan, apply, plan, take_in
from playground.library.restoring import restore
from playground.library.shape import FIELDS, Fixture, FixtureError, Problem, render

__all__ = [
    "FIELDS",
    "Change",
    "Difference",
    "Fixture",
    "FixtureError",
    "Owner",
    "Plan",
    "Problem",
    "apply",
    "compare",
    "dump",
    "dump_part",
    "fixture_of",
    "plan",
    "read",
    "render",
    "restore",
    "take_in",
]
