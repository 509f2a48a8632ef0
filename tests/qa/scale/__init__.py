"""The playground on PostgreSQL and Redis, in one process and in two.

    python -m tests.qa.scale

starts both for the time of the tests. They run the tests of the other directories that are marked
`database` once more, and those of this one.
"""
