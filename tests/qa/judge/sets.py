"""The sets of mutants, by the heading under which their rates are printed."""

from collections.abc import Callable, Iterable, Mapping

from tests.qa.judge import from_schemas, from_specification
from tests.qa.judge.mutants import Mutant

SETS: Mapping[str, Callable[[], Iterable[Mutant]]] = {
    "From the schemas": from_schemas.mutants,
    "From the text of the specifications": from_specification.mutants,
}
