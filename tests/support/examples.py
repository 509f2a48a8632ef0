"""Numbers of Hypothesis' examples."""

from __future__ import annotations

import hypothesis

#: For a property whose examples each take many milliseconds, such as those that render pages: a
#: third of what the profile says.
FEW = hypothesis.settings(max_examples=max(5, hypothesis.settings.default.max_examples // 3))
