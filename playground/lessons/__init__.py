"""Lessons: steps with a text, a request and a check; a pure core without Django.

A lesson is the member `lesson` of a collection, whose saved requests its steps refer to by slug:

    {"version": 1, "minutes": 10, "steps": [{"slug": …, "title": …, "text": …, …}, …]}

==============  ==============================================================================
`check`         evaluation of a step's check on sent requests, composed requests and answers
`lesson`        a lesson and its steps as plain values, read from JSON
`suggestion`    the check that is suggested from a run
`validation`    problems of a lesson, with their locations
==============  ==============================================================================
"""

from playground.lessons.check import CheckResult, Subject, evaluate_check
from playground.lessons.lesson import Lesson, LessonStep, LookAt, Solution, StepCheck
from playground.lessons.validation import lesson_problems, requests_of, with_requests

__all__ = [
    "CheckResult",
    "Lesson",
    "LessonStep",
    "LookAt",
    "Solution",
    "StepCheck",
    "Subject",
    "evaluate_check",
    "lesson_problems",
    "requests_of",
    "with_requests",
]
