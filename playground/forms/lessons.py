"""Forms of lessons: a new one, and a step."""

from __future__ import annotations

from typing import Any

from django import forms

from playground.lessons.lesson import VERSION


class NewLessonForm(forms.Form):
    """A form of the name of a new lesson."""

    name = forms.CharField(max_length=120)

    @property
    def lesson(self) -> dict[str, Any]:
        """Return a lesson with one step."""
        step = {"slug": "step-1", "title": "First step", "text": ""}
        return {"version": VERSION, "steps": [step]}
