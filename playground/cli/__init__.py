"""Shared parts of the management commands: arguments, runs without a page, and their output."""
