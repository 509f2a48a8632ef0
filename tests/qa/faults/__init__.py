"""Faults under load: `make faults`.

The database, the channel layer or a process fails while runs are streaming to viewers. Afterwards
the runs, their events and what each viewer received are compared with what the agent sent.
"""
