"""The form that starts a collection run."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import AnonymousUser, User

from playground.library.data_files import MAX_BYTES, DataError, Row, read_rows
from playground.models import Agent, Collection, Environment

#: What the form offers; more is for the command line.
MAX_ITERATIONS, MAX_PARALLEL = 1000, 50


class StartForm(forms.Form):
    """How a collection is to be run."""

    folder = forms.ChoiceField(required=False)
    environment = forms.ChoiceField(required=False)
    agent = forms.ChoiceField(required=False)
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
        self._environments = {each.slug: each for each in Environment.objects.owned_by(user)}
        protocols = set(collection.requests.order_by().values_list("protocol", flat=True))
        agents = Agent.objects.owned_by(user).filter(protocol__in=protocols)
        self._agents = {each.slug: each for each in agents}
        folders = collection.folders.values_list("slug", "name")
        self._offer("folder", "All of them", folders)
        named = ((slug, each.name) for slug, each in self._environments.items())
        self._offer("environment", "None", named)
        self._offer("agent", "As saved", ((slug, a.name) for slug, a in self._agents.items()))

    def _offer(self, name: str, nothing: str, choices: Any) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", nothing), *choices]

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
