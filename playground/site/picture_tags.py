"""Tag of the pictures that agents name."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import Context

from playground.conversation.pictures import picture_link

register = template.Library()


@register.inclusion_tag("runs/picture.html", takes_context=True)
def picture(context: Context, url: str, title: str = "", shape: str = "card") -> dict[str, Any]:
    """Show a picture of the context's `run`: `{% picture url title %}`.

    `title` names its subject; `shape` is "card", or "message" for a part of a message.
    """
    run, readonly = context["run"], bool(context.get("readonly"))
    link = picture_link(url, run.pk, readonly=readonly)
    return {"picture": link, "run": run, "title": title, "shape": shape}
