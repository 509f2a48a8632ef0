"""Measures the latency of the live path under load: `make load`.

Many streams, many viewers, and both idle. The agent, the playground and the viewers are one process
each, on one machine with one clock: each result carries the moment at which the agent wrote it.
Times are compared with those of a bare server (`baseline`), and never asserted; an event that was
lost or repeated is a failure.
The soak (`soak`) measures what a mixed load leaves behind in the playground.
"""
