"""What a saved request keeps of the composer, and what the composer shows of a saved request."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.db import models, transaction
from django.forms import ValidationError
from django.utils import timezone

from playground.composer_form import SaveForm
from playground.engine import request_over_binding
from playground.engine.preparation import agent_for, version_and_binding
from playground.library.credentials import clean_auth, clean_headers, clean_url_template
from playground.models import Agent, Collection, Run, SavedRequest
from playground.models.collections import STEP, resolve_target
from playground.rendering.pretty import readable

MAX_ADDRESS = 2000


@dataclass(frozen=True, slots=True)
class Kept:
    """The fields of a saved request as they were composed, without any credential.

    `dropped` names what held a literal credential, which is stored nowhere.
    """

    fields: dict[str, Any]
    dropped: list[str] = field(default_factory=list)

    def put(self, saved: SavedRequest) -> None:
        """Store it as what `saved` is from now on, and touch its collection."""
        self._fill(saved)
        with transaction.atomic():
            saved.save()
            _touch(saved)

    def put_over(self, saved: SavedRequest, since: datetime | None) -> bool:
        """Store it over a request that was last saved at `since`; None for whenever it was.

        False, with nothing stored, where it has been saved meanwhile or is gone: what is asked
        for is compared in the same statement that writes it. Its name, notes and place stay as
        they are stored.
        """
        rows = SavedRequest.objects.filter(pk=saved.pk)
        if since is not None:
            rows = rows.filter(modified_at=since)
        self._fill(saved)
        with transaction.atomic():
            if not rows.update(**self.fields, modified_at=saved.modified_at):
                return False
            _touch(saved)
        return True

    def _fill(self, saved: SavedRequest) -> None:
        # A clock that stands still, or goes back, is not to make two versions look alike.
        saved.modified_at = max(timezone.now(), saved.modified_at + timedelta(microseconds=1))
        for name, value in self.fields.items():
            setattr(saved, name, value)


def _touch(saved: SavedRequest) -> None:
    """Its collection has changed when it has."""
    collections = Collection.objects.filter(pk=saved.collection.pk)
    collections.update(modified_at=saved.modified_at)


def read_kept(form: SaveForm, saved: SavedRequest | None = None) -> Kept:
    """What the composer's fields say, to be kept. Raises `ValidationError` with a sentence.

    A document that could not be sent yet can be kept all the same; one that is no JSON object
    cannot. `saved` is the request that it is saved into.
    """
    if form.mistake:
        raise ValidationError(form.mistake)
    given = form.cleaned_data
    agent, document = given["agent"], given["document"]
    headers = [list(pair) for pair in given["headers"]]
    address = given["address"]
    spoken_by = agent or agent_for(address, given["protocol"], None)
    version, binding = version_and_binding(spoken_by, given["version"], given["binding"])
    if agent is not None:
        prepared = request_over_binding(agent, document, (), version=version, binding=binding)
        address = _address_of(prepared.target.url)
    if len(address) > MAX_ADDRESS:
        raise ValidationError(f"The address is longer than {MAX_ADDRESS:,} characters.")
    kept = clean_headers(headers), clean_url_template(address)
    dropped = [name for (name, was), (_, now) in zip(headers, kept[0], strict=True) if was != now]
    if kept[1] != address:
        dropped.append("the address")
    auth = clean_auth(given["auth"])
    if given["auth"].get("secret") and auth.get("secret") == "":
        dropped.append("the authentication")
    place = (agent.slug if agent else "", kept[1])
    if saved and resolve_target(saved, form.agents) == (None, address):
        place = (saved.agent, saved.address)  # A path at its agent's origin stays one.
    elif saved and agent and saved.agent == agent.slug and saved.binding == binding:
        place = (agent.slug, saved.address)  # What did not change is no difference of the file.
    fields = {
        "agent": place[0],
        "address": place[1],
        "protocol": spoken_by.protocol,
        "version": version,
        "binding": binding,
        "document": document,
        "headers": kept[0],
        "auth": auth,
        "expectations": given["expectations"],
        "captures": given["captures"],
    }
    return Kept(fields, dropped)


def _address_of(url: str) -> str:
    """Where an agent is, for whoever has none of its name; "" for one of this very machine."""
    host = urlsplit(url).hostname or ""
    return "" if host == "localhost" or host.startswith("127.") or host == "::1" else url


def last_position(requests: models.QuerySet[SavedRequest]) -> int:
    """The position after the last of these requests, which are those of one folder."""
    last: int | None = requests.aggregate(last=models.Max("position"))["last"]
    return STEP if last is None else last + STEP


def composed_of(saved: SavedRequest, agents: models.QuerySet[Agent]) -> dict[str, str]:
    """A saved request as the composer's fields have it, each a text.

    Its agent is named only where there is one of that name; its address takes over otherwise.
    """
    agent, address = resolve_target(saved, agents)
    return {
        "agent": agent.slug if agent else "",
        "address": address,
        "protocol": agent.protocol if agent else saved.protocol,
        "version": saved.version,
        "binding": saved.binding,
        "document": readable(saved.document),
        "headers": _text(saved.headers),
        "auth": _text(saved.auth),
        "expectations": _text(saved.expectations),
        "captures": _text(saved.captures),
    }


def composed_for(run: Run) -> dict[str, str]:
    """What the composer shows of a run beside its document and headers, each a text.

    Where a request went to an address, and not to an agent, it is that address that is shown;
    so it is where the agent is gone.
    """
    template = run.request_template or {}
    saved = run.saved_request
    return {
        "address": str(template.get("address") or ("" if run.agent else run.url)),
        "auth": _text(template.get("auth")),
        "expectations": _text(template.get("expectations", run.expectations)),
        "captures": _text(saved.captures) if saved else "",
    }


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if value else ""


def tab_summary(saved: SavedRequest) -> dict[str, Any]:
    """What a tab knows of the saved request that it shows.

    `saved` is what the composer's field of that name says: the request's natural key.
    """
    return {
        "saved": f"{saved.collection.slug}/{saved.slug}",
        "name": saved.name,
        "modified": saved.modified_at.isoformat(),
        "url": saved.get_absolute_url(),
    }


def tab_data(saved: SavedRequest, agents: models.QuerySet[Agent]) -> dict[str, Any]:
    """What a tab needs to open a saved request, or to tell what of it has changed."""
    return tab_summary(saved) | {"fields": composed_of(saved, agents)}
