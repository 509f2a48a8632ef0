"""Actions of results: the desk that shows the call, and running it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.conf import settings
from django.forms import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import reswap, retarget

from playground import engine
from playground.engine.launch import origin_key
from playground.forms import read_headers, read_value
from playground.models import Agent, Run, RunKind
from playground.protocols import registry
from playground.protocols.actions import UNSET, Action, Plan, Unset, plan
from playground.protocols.calls import Call
from playground.protocols.exchange import Target
from playground.rendering.desk import action_at, headers_of, label_of
from playground.rendering.pretty import readable
from playground.rendering.thread import Thread, anchor_of
from playground.transport import Policy, check_url
from playground.views.compose import describe_call, is_new


@dataclass(frozen=True, slots=True)
class Desk:
    """One action of one result, on the page of a run."""

    run: Run
    #: The run whose page it is on: that of the result, or one that it came of.
    page: Run
    place: tuple[int, int]
    number: int
    action: Action

    @property
    def agent(self) -> Agent:
        """The agent that gave the action; one that was deleted is known by its name only."""
        return self.run.agent or Agent(name=self.run.agent_name, url=self.run.url)

    @property
    def anchor(self) -> str:
        """The id of the result's element on the page."""
        return anchor_of(self.run, self.place, self.page)


@dataclass(slots=True)
class Filled:
    """What the user filled in, and what is wrong with it."""

    params: Any | Unset = UNSET
    headers: list[tuple[str, str]] = field(default_factory=list)
    #: Whether the agent's credentials shall go along.
    as_agent: bool = False
    problems: list[str] = field(default_factory=list)


@require_http_methods(["GET", "POST"])
async def action(request: HttpRequest, pk: str, seq: int, part: int, number: int) -> HttpResponse:
    """The desk of an action; POST runs it, `confirmed=1` for everything but GET."""
    if request.method == "GET":
        return await sync_to_async(_show)(request, pk, (seq, part), number)
    sent = await sync_to_async(_record)(request, pk, (seq, part), number)
    if isinstance(sent, HttpResponse):
        return sent
    desk, run, target, secrets = sent
    engine.start(run, target, redact=secrets)
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(desk.page)
    return await sync_to_async(_started)(request, desk)


@require_POST
def preview(request: HttpRequest, pk: str, seq: int, part: int, number: int) -> HttpResponse:
    """The call as it would be made with what is filled in."""
    desk = _desk(request, pk, (seq, part), number)
    return render(request, "runs/desk/preview.html", _call(request, desk, _filled(request)))


def _show(request: HttpRequest, pk: str, place: tuple[int, int], number: int) -> HttpResponse:
    desk = _desk(request, pk, place, number)
    context = _call(request, desk, Filled())
    params = context["plan"].params
    told = context["refusals"]
    context["findings"] = [problem for problem in desk.action.problems if problem not in told]
    context["params"] = "" if params is None else readable(params)
    return render(request, "runs/desk/desk.html", context)


def _record(
    request: HttpRequest, pk: str, place: tuple[int, int], number: int
) -> HttpResponse | tuple[Desk, Run, Target, list[str]]:
    desk = _desk(request, pk, place, number)
    filled = _filled(request)
    context = _call(request, desk, filled)
    if not context["sendable"]:
        response = render(request, "runs/desk/preview.html", context, status=422)
        return reswap(retarget(response, f"#desk-{desk.anchor}-call"), "innerHTML")
    planned: Plan = context["plan"]
    if planned.method != "GET" and request.POST.get("confirmed") != "1":
        response = render(request, "runs/desk/confirmation.html", context)
        return reswap(retarget(response, f"#desk-{desk.anchor}-confirmation"), "innerHTML")
    draft = _draft(desk, filled, planned)
    link = engine.Link(RunKind.ACTION, desk.run, *desk.place)
    run = engine.create_run(draft, request.user, link)
    return desk, run, draft.target, draft.secrets


def _started(request: HttpRequest, desk: Desk) -> HttpResponse:
    """What changes on the page: what stands under the result, and the page's socket."""
    place = next((run.cause for run in _ancestors(desk.run) if run.parent_id == desk.page.pk), None)
    if desk.run == desk.page or place is None:
        place = desk.place
    children = Thread(desk.page).render_children(place, oob=True)
    context = {"children": children, "run": desk.page, "live": True}
    return render(request, "runs/children/begun.html", context)


def _desk(request: HttpRequest, pk: str, place: tuple[int, int], number: int) -> Desk:
    # The parents are at hand then for the nudges, see `Run.groups`.
    runs = Run.objects.owned_by(request.user)
    runs = runs.select_related("agent", "conversation", "parent__parent__parent")
    run: Run = get_object_or_404(runs, pk=pk)
    found = action_at(run, place, number)
    if found is None:
        raise Http404
    asked = request.POST.get("page") or request.GET.get("page")
    page = next((each for each in _ancestors(run) if str(each.pk) == asked), run)
    return Desk(run, page, place, number, found)


def _ancestors(run: Run) -> Iterator[Run]:
    """The run and those that it came of, up to its turn."""
    at: Run | None = run
    while at is not None:
        yield at
        at = None if at.is_turn else at.parent


def _filled(request: HttpRequest) -> Filled:
    form = request.POST
    filled = Filled(as_agent=form.get("as_agent") == "1")
    if (text := form.get("params")) is not None:
        try:
            filled.params = read_value(text) if text.strip() else None
        except ValidationError as error:
            filled.problems.append(f"Parameters: {error.messages[0]}")
    try:
        filled.headers = read_headers(form.get("headers", ""))
    except ValidationError as error:
        filled.problems.append(error.messages[0])
    return filled


def _call(request: HttpRequest, desk: Desk, filled: Filled) -> dict[str, Any]:
    """The context of the desk: the exact call, and all that there is to know about it."""
    planned = plan(desk.action, desk.run.url, params=filled.params, headers=filled.headers)
    own = _is_own(desk.agent, planned)
    filled.as_agent = filled.as_agent and own
    sendable = _is_sendable(planned) and not filled.problems
    draft = _draft(desk, filled, planned)
    call = _exact(draft, planned)
    described = describe_call(call, draft.secrets)
    credentials = [name for name, _ in desk.agent.auth_headers()] if filled.as_agent else []
    return {
        "run": desk.run,
        "page": desk.page,
        "anchor": desk.anchor,
        "seq": desk.place[0],
        "part": desk.place[1],
        "number": desk.number,
        "action": desk.action,
        "label": label_of(desk.action),
        "agent": desk.agent,
        "plan": planned,
        "call": described,
        "headers": headers_of(
            described["headers"],
            desk.action,
            yours=[name for name, _ in filled.headers],
            credentials=credentials,
        ),
        "refusals": [*filled.problems, *_against(planned)],
        "sendable": sendable,
        # Without what was filled in it could be sent, so somebody can mend that.
        "mendable": not sendable and _is_sendable(plan(desk.action, desk.run.url)),
        # The plan is that of other fields then, and is not shown as if it were of these.
        "unread": bool(filled.problems),
        "origin": planned.origin,
        "agent_origin": Call("GET", desk.agent.url).origin,
        "is_own": own,
        "is_new": bool(planned.origin) and is_new(request, planned.origin),
        "as_agent": filled.as_agent,
        "has_credentials": bool(desk.agent.auth_headers()),
    }


def _draft(desk: Desk, filled: Filled, planned: Plan) -> engine.ActionDraft:
    return engine.ActionDraft(
        desk.agent,
        planned.request,
        planned.url,
        headers=filled.headers,
        as_agent=filled.as_agent,
    )


def _exact(draft: engine.ActionDraft, planned: Plan) -> Call:
    """The call as the engine would make it; as it is planned where it would not."""
    if planned.sendable:
        call = registry.exchange(draft.target, draft.request).next_call()
        if call is not None:
            return call
    return Call(planned.method, planned.url, planned.headers, planned.body)


def _is_own(agent: Agent, planned: Plan) -> bool:
    """Whether the call goes to the agent's own origin."""
    try:
        return bool(planned.origin) and origin_key(planned.url) == origin_key(agent.url)
    except ValueError:
        return False


def _against(planned: Plan) -> list[str]:
    """Why a call is not made, as sentences."""
    refusals = list(planned.refusals)
    if planned.sendable and (refusal := _forbidden(planned.url)):
        refusals.append(refusal)
    return refusals


def _is_sendable(planned: Plan) -> bool:
    return planned.sendable and not _against(planned)


def _forbidden(url: str) -> str:
    """Why the outbound policy refuses an address, "" where that is open until it is called.

    Only addresses that are written out can be judged before their name is resolved.
    """
    if problem := check_url(url):
        return problem
    host = (urlsplit(url).hostname or "").lower()
    literal = "127.0.0.1" if host == "localhost" or host.endswith(".localhost") else host
    policy = Policy.from_settings(settings.HOSTED, settings.OUTBOUND_ALLOW)
    try:
        refusal = policy.verdict(ip_address(literal), host)
    except ValueError:
        return ""
    return refusal.message if refusal else ""
