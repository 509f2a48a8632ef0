"""Engine: starts, drives and cancels runs; the only owner of background tasks.

Imported by views and management commands, which need `preparation`, `runs` and `tasks` most.
"""
