"""Signs of life that a database which fails for a moment does not end.

A run whose heart stopped would be taken for one whose process died, although it goes on.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def forgiving(what: str) -> Iterator[None]:
    """Log what goes wrong inside, and go on; a cancellation is no such thing."""
    try:
        yield
    except Exception:
        logger.warning("%s was left out this time", what, exc_info=True)
