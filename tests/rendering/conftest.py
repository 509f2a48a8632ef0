"""Pages that need no `collectstatic` before them."""

from tests.views.conftest import plain_assets

__all__ = ["plain_assets"]
