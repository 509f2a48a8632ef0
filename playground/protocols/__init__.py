"""Protocols: what requests and responses mean, with no I/O, no clock and no Django.

Every other package may import this one; it imports the standard library only.
"""
