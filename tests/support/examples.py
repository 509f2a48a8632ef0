"""Numbers of Hypothesis' examples."""

from __future__ import annotations

import hypothesis

_ALL = hypothesis.settings.default.max_examples

#: For a property whose examples each take many milliseconds, such as those that render pages: a
#: third of what the profile says, but all of the nightly run.
FEW = hypothesis.settings(max_examples=_ALL if _ALL >= 300 else max(5, _ALL // 3))
