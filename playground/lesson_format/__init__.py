"""Lessons: steps with a text, a request and a check; a pure core without Django.

A lesson is the member `lesson` of a collection, whose saved requests its steps refer to by slug:

    {"version": 1, "minutes": 10, "steps": [{"slug": …, "title": …, "text": …, …}, …]}
"""
