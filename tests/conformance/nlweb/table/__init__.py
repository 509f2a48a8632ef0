"""Cases of NLWeb's rules."""

from tests.conformance.case import Case
from tests.conformance.nlweb.table.contents import CONTENTS
from tests.conformance.nlweb.table.responses import RESPONSES
from tests.conformance.nlweb.table.streaming import STREAMING

CASES: tuple[Case, ...] = (*RESPONSES, *CONTENTS, *STREAMING)
