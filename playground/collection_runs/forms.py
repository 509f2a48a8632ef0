"""Form that starts a collection run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib.auth.models import AnonymousUser, User

from playground.import_export.data_rows import (
    MAX_BYTES,
    MAX_TEXT,
    AssignmentError,
    DataError,
    Row,
    parse_assignments,
    read_rows,
)
from playground.models import Agent, Collection, Environment, SavedRequest
from playground.models.collections import requests_in_order
from playground.protocols.origins import MAX_URL

#: The maximum that the form accepts; the command line has no maximum.
MAX_ITERATIONS, MAX_PARALLEL = 1000, 50


class CollectionRunForm(forms.Form):
    """A form with the options of `run_collection`, which mean the same."""

    folder = forms.ChoiceField(required=False)
    requests = forms.MultipleChoiceField(required=False)
    environment = forms.ChoiceField(required=False)
    variables = forms.CharField(required=False, max_length=MAX_TEXT, strip=False)
    agent = forms.ChoiceField(required=False)
    address = forms.CharField(required=False, max_length=MAX_URL)
    rows = forms.FileField(required=False, label="data file", allow_empty_file=True)
    iterations = forms.IntegerField(required=False, min_value=1, max_value=MAX_ITERATIONS)
    parallel = forms.IntegerField(
        required=False, min_value=1, max_value=MAX_PARALLEL, initial=1, label="concurrency"
    )
    bail = forms.BooleanField(required=False)

    def __init__(
        self, collection: Collection, user: User | AnonymousUser, *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._requests = list(requests_in_order(collection))
        self._environments = {each.slug: each for each in Environment.objects.owned_by(user)}
        protocols = {each.protocol for each in self._requests}
        agents = Agent.objects.owned_by(user).filter(protocol__in=protocols)
        self._agents = {each.slug: each for each in agents}
        folders = collection.folders.values_list("slug", "name")
        self._set_choices("folder", [("", "All"), *folders])
        self._set_choices("requests", ((each.slug, _label(each)) for each in self._requests))
        named = ((slug, each.name) for slug, each in self._environments.items())
        self._set_choices("environment", [("", "None"), *named])
        known = ((slug, each.name) for slug, each in self._agents.items())
        self._set_choices("agent", [("", "As saved"), *known])

    def _set_choices(self, name: str, choices: Iterable[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(choices)

    @property
    def count(self) -> int:
        """Return the number of requests in the collection."""
        return len(self._requests)

    @property
    def selected(self) -> set[str]:
        """Return the slugs of the selected requests, as the form shows them."""
        return set(self["requests"].value() or ()) & {each.slug for each in self._requests}

    def clean_variables(self) -> dict[str, Any]:
        """Return values by name. An error names the line, and does not quote it."""
        try:
            return parse_assignments(self.cleaned_data["variables"])
        except AssignmentError as error:
            raise forms.ValidationError(str(error)) from None

    def clean_rows(self) -> list[Row]:
        """Return the rows of the data file. An error names the position in it."""
        file = self.cleaned_data.get("rows")
        if not file:
            return []
        try:
            return read_rows(file.read(MAX_BYTES + 1), file.name or "")
        except DataError as error:
            raise forms.ValidationError(str(error)) from None

    def clean_environment(self) -> Environment | None:
        """Return the selected environment, None for none."""
        return self._environments.get(self.cleaned_data["environment"])

    def clean_agent(self) -> Agent | None:
        """Return the agent that replaces others, None to use those of the requests."""
        return self._agents.get(self.cleaned_data["agent"])

    def clean_address(self) -> str:
        """Return the URL that replaces agents, where no agent was selected."""
        address: str = self.cleaned_data["address"]
        if address and self.cleaned_data.get("agent"):
            raise forms.ValidationError("Choose an agent or enter a URL, not both.")
        return address

    def clean(self) -> dict[str, Any]:
        """Add the requests to send, in order, as `chosen`."""
        cleaned = self.cleaned_data
        names, folder = set(cleaned.get("requests", ())), cleaned.get("folder", "")
        found = [
            each
            for each in self._requests
            if not folder or (each.folder is not None and each.folder.slug == folder)
        ]
        if names - {each.slug for each in found} and not self.errors:
            self.add_error("requests", "Some of these requests are not in the selected folder.")
        cleaned["chosen"] = [each for each in found if not names or each.slug in names]
        return cleaned


def _label(saved: SavedRequest) -> str:
    """Return the label of a request: its folder and its name."""
    return f"{saved.folder.name} / {saved.name}" if saved.folder else saved.name
