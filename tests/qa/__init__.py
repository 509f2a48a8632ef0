"""Measurements and tests that no change needs while it is written: see docs/qa.md.

=========  ================================================================
`bench`    speed and memory: `make bench`
`load`     latency under load: `make load`
`faults`   failing databases and processes under load: `make faults`
`cluster`  a playground of several processes: `make cluster`
`scale`    tests on PostgreSQL and Redis: `make test-scale`
`peers`    tests against servers of other packages: `make test-peers`
`wheel`    tests of the wheel, built and installed: `make test-wheel`
`lowest`   tests with the lowest permitted dependencies: `make test-lowest`
`judge`    deviations that the conformance rules find: `make judge`
=========  ================================================================
"""
