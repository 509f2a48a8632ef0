"""Management commands, which share `playground.cli`."""
