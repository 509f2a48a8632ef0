"""Collections as plain Django fixtures: what the rest of the playground uses.

`dump` writes the text of a collection, `dump_part` that of a folder or a request. `read` takes
any text and checks it, `plan` says what taking it in would do, and `take_in` does it, all or
nothing; `apply` carries out what was planned before. `restore` puts back what `dump_part` wrote
before it was deleted. `render` writes a fixture that was made from something else.
"""

from playground.library.comparing import FieldDifference, ItemChange, compare_fixtures
from playground.library.dumping import dump, dump_part, fixture_of
from playground.library.parsing import parse_fixture
from playground.library.planning import ImportPlan, Owner, apply_import, import_fixture, plan_import
from playground.library.restoring import restore_fixture
from playground.library.shape import FIELDS, Fixture, FixtureError, FixtureProblem, render

__all__ = [
    "FIELDS",
    "FieldDifference",
    "Fixture",
    "FixtureError",
    "FixtureProblem",
    "ImportPlan",
    "ItemChange",
    "Owner",
    "apply_import",
    "compare_fixtures",
    "dump",
    "dump_part",
    "fixture_of",
    "import_fixture",
    "parse_fixture",
    "plan_import",
    "render",
    "restore_fixture",
]
