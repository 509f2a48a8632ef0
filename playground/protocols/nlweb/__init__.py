"""The NLWeb protocol, versions 0.54 and 0.55, and the legacy server before them."""
