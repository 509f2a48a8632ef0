"""Formats of other tools: imports to fixtures and plain values, and exports.

Built on the fixtures of `playground.collections`; nothing is stored here.
"""
