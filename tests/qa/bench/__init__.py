"""Measures speed and memory of the whole playground: `make bench`.

Ratios within one run on one machine, printed as the table of docs/benchmarks.md. Nothing here is a
test: a quiet and a busy machine differ too much for a figure to be asserted.
"""
