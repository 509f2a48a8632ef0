"""Environments and their variables."""
