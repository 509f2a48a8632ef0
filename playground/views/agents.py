"""Agents: list, add, edit, delete."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from playground.forms import AgentForm
from playground.models import Agent


@require_http_methods(["GET", "HEAD", "POST"])
def agents(request: HttpRequest) -> HttpResponse:
    """GET lists the agents; POST adds one."""
    if request.method != "POST":
        found = Agent.objects.owned_by(request.user)
        return render(request, "agents/list.html", {"agents": found})
    owner = request.user if request.user.is_authenticated else None
    form = AgentForm(request.POST, instance=Agent(owner=owner))
    if not form.is_valid():
        return render(request, "agents/form.html", {"form": form, "agent": None}, status=422)
    agent = form.save()
    messages.success(request, f"{agent.name} was added.")
    return redirect(f"{reverse('workbench')}?agent={agent.slug}")


@require_safe
def new(request: HttpRequest) -> HttpResponse:
    """The form for a new agent; `?url=` prefills its address."""
    form = AgentForm(initial={"url": request.GET.get("url", "")[:2000]})
    return render(request, "agents/form.html", {"form": form, "agent": None})


@require_http_methods(["GET", "HEAD", "POST"])
def agent(request: HttpRequest, slug: str) -> HttpResponse:
    """GET shows the form of an agent; POST saves it."""
    found = get_object_or_404(Agent.objects.owned_by(request.user), slug=slug)
    name = found.name
    if request.method != "POST":
        context = {"form": AgentForm(instance=found), "agent": found}
        return render(request, "agents/form.html", context)
    form = AgentForm(request.POST, instance=found)
    if not form.is_valid():
        found.name = name  # The page's title says what is stored, not what was typed.
        return render(request, "agents/form.html", {"form": form, "agent": found}, status=422)
    saved = form.save()
    messages.success(request, f"{saved.name} was saved.")
    return redirect(f"{reverse('workbench')}?agent={saved.slug}")


@require_POST
def deletion(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete an agent. Its runs stay; they carry a copy of what they need."""
    found = get_object_or_404(Agent.objects.owned_by(request.user), slug=slug)
    found.delete()
    messages.success(request, f"{found.name} was deleted.")
    return redirect("agents")
