"""Forms of collections: names, and texts in Markdown."""

from __future__ import annotations

from typing import Any

from django import forms

from playground.library.organising import RelativePosition
from playground.models import Collection, Folder, SavedRequest
from playground.rendering.markdown import MAX_TEXT


class MarkdownField(forms.CharField):
    """A text of several lines, which end as they do in files: browsers send them another way."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", MAX_TEXT)
        super().__init__(required=False, widget=forms.Textarea, **kwargs)

    def to_python(self, value: Any) -> str:
        """The text with single line feeds."""
        text = str(super().to_python(value))
        return text.replace("\r\n", "\n").replace("\r", "\n")


class CollectionForm(forms.ModelForm):  # type: ignore[type-arg]
    """The name and the description of a collection."""

    description = MarkdownField()

    class Meta:
        model = Collection
        fields = ["name", "description"]


class FolderForm(forms.ModelForm):  # type: ignore[type-arg]
    """The name and the description of a folder."""

    description = MarkdownField()

    class Meta:
        model = Folder
        fields = ["name", "description"]


class SavedRequestForm(forms.ModelForm):  # type: ignore[type-arg]
    """The name and the notes of a saved request; what it sends is edited in the workbench."""

    notes = MarkdownField()

    class Meta:
        model = SavedRequest
        fields = ["name", "notes"]


class PositionForm(forms.Form):
    """Where something is to stand: before or after a sibling, or some steps on."""

    before = forms.CharField(required=False, max_length=200)
    after = forms.CharField(required=False, max_length=200)
    step = forms.IntegerField(required=False, min_value=-100_000, max_value=100_000)

    @property
    def relative_position(self) -> RelativePosition:
        """The place, the end where nothing could be read."""
        found = self.cleaned_data
        return RelativePosition(
            found.get("before", ""), found.get("after", ""), found.get("step") or 0
        )
