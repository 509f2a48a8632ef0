"""The reference: protocols, attributes, changes between versions, rules, explanations of names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotFound
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString  # noqa: TID251 -- the type
from django.views.decorators.http import require_safe
from django_htmx.http import replace_url

from playground.conformance import RULESETS
from playground.protocols import registry
from playground.reference.attributes import (
    attributes_of_rule,
    changes_view,
    protocol_views,
    reference_view,
    start_links,
)
from playground.reference.explanations import explanation_view
from playground.reference.rules import rule_context, rule_groups
from playground.ui.helpers import is_htmx

#: The longest text of the filter.
MAX_WORDS = 200


@require_safe
def references(request: HttpRequest) -> HttpResponse:
    """List the protocols with their versions and documents, and where to begin."""
    context = {"protocols": protocol_views(), "start": start_links()}
    return render(request, "reference/list.html", context)


@require_safe
def reference(request: HttpRequest, protocol: str, version: str) -> HttpResponse:
    """Show every attribute of a version; with `?q=` those that contain all of its words.

    An htmx request gets the documents alone.
    """
    try:
        view = reference_view(protocol, version)
    except ValueError:
        raise Http404(f"No reference of {protocol} {version}.") from None
    words = request.GET.get("q", "")[:MAX_WORDS].strip()
    if words:
        body = _body(protocol, version, words)
    else:
        body = _full_body(protocol, version, settings.DEMO_ENABLED)
    if not is_htmx(request):
        context = {"reference": view, "words": words, "body": body}
        return render(request, "reference/page.html", context)
    url = reverse("reference", args=[protocol, version])
    query = f"?{urlencode({'q': words})}" if words else ""
    return replace_url(HttpResponse(body), f"{url}{query}")


@lru_cache(maxsize=32)
def _full_body(protocol: str, version: str, _has_demo: bool) -> SafeString:
    """Return the HTML of all documents; without the demo agent it is another one."""
    return _body(protocol, version, "")


def _body(protocol: str, version: str, words: str) -> SafeString:
    """Return the HTML of the documents with these words."""
    view = reference_view(protocol, version).filtered(words)
    site = {"demo": settings.DEMO_ENABLED}
    context = {"reference": view, "words": words, "site": site}
    return render_to_string("reference/page.html#body", context)


@require_safe
def changes(request: HttpRequest, protocol: str, version: str) -> HttpResponse:
    try:
        view = changes_view(protocol, version)
    except ValueError:
        view = None
    if view is None:
        raise Http404(f"No changes of {protocol} {version}.")
    return render(request, "reference/changes.html", view)


@require_safe
def rules(request: HttpRequest) -> HttpResponse:
    """List every rule: its requirement level in each version, and its section."""
    return render(request, "reference/rules.html", {"groups": list(_groups())})


@require_safe
def rule(request: HttpRequest, group: str, rule_id: str) -> HttpResponse:
    """Show a rule: its requirements, and a conforming and a violating response."""
    found = next(
        (
            (each, rule)
            for each in rule_groups()
            for rule in each.rules
            if (each.slug, rule.id) == (group, rule_id)
        ),
        None,
    )
    if found is None:
        raise Http404(f"No rule {rule_id} in {group}.")
    context = {**rule_context(*found), "attributes": attributes_of_rule(rule_id)}
    return render(request, "reference/rule.html", context)


def _groups() -> Iterator[dict[str, Any]]:
    for group in rule_groups():
        protocol, rules = next(
            (protocol, rules) for (protocol, _), rules in RULESETS.items() if group in rules.groups
        )
        versions = rules.versions
        yield {
            "title": group.title,
            "slug": group.slug,
            "about": group.about,
            "columns": versions if registry.spec(protocol).has_versions else ["Level"],
            "rows": [
                (rule, [(name, rule.requirements.get(name)) for name in versions])
                for rule in group.rules
            ],
        }


#: Seconds that a browser may use a fragment again: it changes with the playground's version only.
MAX_AGE = 3600


@login_not_required
@require_safe
def explanation(request: HttpRequest, protocol: str, version: str, schema: str) -> HttpResponse:
    """Show the explanation of the value at `?at=`, a JSON pointer into a document of a schema.

    Available without login, because shared pages show the same names.
    """
    try:
        view = explanation_view(protocol, version, schema, request.GET.get("at", ""))
    except ValueError:
        return HttpResponseNotFound()  # Without the page of that status: a script reads it.
    response = render(request, "reference/explanation.html", {"explanation": view})
    response["Cache-Control"] = f"private, max-age={MAX_AGE}"
    return response
