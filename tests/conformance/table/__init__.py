"""For each rule a reply that keeps it and replies that break it, and where."""

from tests.conformance.table.case import Case
from tests.conformance.table.contents import CONTENTS
from tests.conformance.table.replies import REPLIES
from tests.conformance.table.streaming import STREAMING

CASES: tuple[Case, ...] = (*REPLIES, *CONTENTS, *STREAMING)

__all__ = ["CASES", "Case"]
