"""Management commands: serve, send."""
