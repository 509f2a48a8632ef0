"""Lessons: steps with a text, a request and a check; a pure core without Django.

A lesson is the member `lesson` of a collection, whose saved requests its steps refer to by slug:

    {"version": 1, "minutes": 10, "steps": [{"slug": …, "title": …, "text": …, …}, …]}
"""

from playground.lesson_format.lesson import (
    CheckResult,
    Lesson,
    LessonStep,
    LookAt,
    Solution,
    StepCheck,
    Subject,
    evaluate_check,
)
from playground.lesson_format.validation import lesson_problems, requests_of, with_requests

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
