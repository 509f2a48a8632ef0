"""Forms of collections, folders and saved requests: names, Markdown texts and positions."""

from __future__ import annotations

from typing import Any

from django import forms

from playground.collections.ordering import RelativePosition
from playground.models import Collection, Folder, SavedRequest
from playground.ui.markdown import MAX_TEXT


class MarkdownField(forms.CharField):
    """A field of several lines of Markdown; CRLF, as browsers send it, becomes LF."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", MAX_TEXT)
        super().__init__(required=False, widget=forms.Textarea, **kwargs)

    def to_python(self, value: Any) -> str:
        """Return the text with LF as line ending."""
        text = str(super().to_python(value))
        return text.replace("\r\n", "\n").replace("\r", "\n")


class CollectionForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form of the name and the description of a collection."""

    description = MarkdownField()

    class Meta:
        model = Collection
        fields = ["name", "description"]


class FolderForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form of the name and the description of a folder."""

    description = MarkdownField()

    class Meta:
        model = Folder
        fields = ["name", "description"]


class SavedRequestForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form of the name and the notes of a saved request; the workbench edits its document."""

    notes = MarkdownField()

    class Meta:
        model = SavedRequest
        fields = ["name", "notes"]


class PositionForm(forms.Form):
    """A form of a position: before or after a sibling, or a number of steps away."""

    before = forms.CharField(required=False, max_length=200)
    after = forms.CharField(required=False, max_length=200)
    step = forms.IntegerField(required=False, min_value=-100_000, max_value=100_000)

    @property
    def relative_position(self) -> RelativePosition:
        """Return the position; the end for invalid fields."""
        found = self.cleaned_data
        return RelativePosition(
            found.get("before", ""), found.get("after", ""), found.get("step") or 0
        )
