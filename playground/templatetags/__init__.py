"""Template tags: what templates need and views do not."""
