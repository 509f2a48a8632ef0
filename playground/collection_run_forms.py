"""The form that starts a collection run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib.auth.models import AnonymousUser, User

from playground.library.assignments import MAX_TEXT, AssignmentError, parse_assignments
from playground.library.data_files import MAX_BYTES, DataError, Row, read_rows
from playground.models import Agent, Collection, Environment, SavedRequest
from playground.models.collections import requests_in_order

#: What the form offers; more is for the command line.
MAX_ITERATIONS, MAX_PARALLEL = 1000, 50
#: Characters of an address.
MAX_ADDRESS = 2000


class CollectionRunForm(forms.Form):
    """How a collection is to be run: what `run_collection` takes, meaning the same."""

    folder = forms.ChoiceField(required=False)
    requests = forms.MultipleChoiceField(required=False)
    environment = forms.ChoiceField(required=False)
    variables = forms.CharField(required=False, max_length=MAX_TEXT, strip=False)
    agent = forms.ChoiceField(required=False)
    address = forms.CharField(required=False, max_length=MAX_ADDRESS)
    rows = forms.FileField(required=False, label="data file", allow_empty_file=True)
    iterations = forms.IntegerField(required=False, min_value=1, max_value=MAX_ITERATIONS)
    parallel = forms.IntegerField(
        required=False, min_value=1, max_value=MAX_PARALLEL, initial=1, label="at once"
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
        self._offer("folder", [("", "All of them"), *folders])
        self._offer("requests", ((each.slug, _place(each)) for each in self._requests))
        named = ((slug, each.name) for slug, each in self._environments.items())
        self._offer("environment", [("", "None"), *named])
        known = ((slug, each.name) for slug, each in self._agents.items())
        self._offer("agent", [("", "As saved"), *known])

    def _offer(self, name: str, choices: Iterable[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(choices)

    @property
    def count(self) -> int:
        """How many requests there are."""
        return len(self._requests)

    @property
    def selected(self) -> set[str]:
        """The slugs of the requests that are chosen, as the form shows them."""
        return set(self["requests"].value() or ()) & {each.slug for each in self._requests}

    def clean_variables(self) -> dict[str, Any]:
        """Values by name. What is wrong with them is said with its line, and not quoted."""
        try:
            return parse_assignments(self.cleaned_data["variables"])
        except AssignmentError as error:
            raise forms.ValidationError(str(error)) from None

    def clean_rows(self) -> list[Row]:
        """The rows of the data file. What is wrong with it is said with its place."""
        file = self.cleaned_data.get("rows")
        if not file:
            return []
        try:
            return read_rows(file.read(MAX_BYTES + 1), file.name or "")
        except DataError as error:
            raise forms.ValidationError(str(error)) from None

    def clean_environment(self) -> Environment | None:
        """The environment that was chosen."""
        return self._environments.get(self.cleaned_data["environment"])

    def clean_agent(self) -> Agent | None:
        """The agent that stands in for others, None for those of the requests."""
        return self._agents.get(self.cleaned_data["agent"])

    def clean_address(self) -> str:
        """The address at which one stands in, where none was chosen by its name."""
        address: str = self.cleaned_data["address"]
        if address and self.cleaned_data.get("agent"):
            raise forms.ValidationError("Choose an agent or give an address, and not both.")
        return address

    def clean(self) -> dict[str, Any]:
        """What was chosen; `chosen` holds the requests that are to be sent, in order."""
        cleaned = self.cleaned_data
        names, folder = set(cleaned.get("requests", ())), cleaned.get("folder", "")
        found = [
            each
            for each in self._requests
            if not folder or (each.folder is not None and each.folder.slug == folder)
        ]
        if names - {each.slug for each in found} and not self.errors:
            self.add_error("requests", "Not all of these are in the folder that is chosen.")
        cleaned["chosen"] = [each for each in found if not names or each.slug in names]
        return cleaned


def _place(saved: SavedRequest) -> str:
    return f"{saved.folder.name} / {saved.name}" if saved.folder else saved.name
