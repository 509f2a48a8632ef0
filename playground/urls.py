"""Addresses of pages."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import URLPattern, URLResolver, include, path

from playground.views import (
    actions,
    agents,
    answers,
    calls,
    compose,
    conformance,
    disk,
    doctor,
    expectations,
    exports,
    history,
    imports,
    promises,
    run_parts,
    runs,
    saved,
    session,
    told,
    turns,
    twins,
    workbench,
)

urlpatterns: list[URLPattern | URLResolver] = [
    path("", workbench.workbench, name="workbench"),
    path("compose/preview/", compose.preview, name="compose-preview"),
    path("schemas/<slug:protocol>/<str:version>/<slug:name>.json", compose.schema, name="schema"),
    path("runs/", history.runs, name="runs"),
    path("runs/<uuid:pk>/", workbench.run_page, name="run"),
    path("runs/<uuid:pk>/response/", workbench.run_response, name="run-response"),
    path("runs/<uuid:pk>/cancellation/", runs.cancellation, name="run-cancellation"),
    path("runs/<uuid:pk>/repetition/", runs.repetition, name="run-repetition"),
    path("runs/<uuid:pk>/next/", turns.next_turn, name="run-next"),
    path("runs/<uuid:pk>/turn/", turns.turn, name="run-turn"),
    path("runs/<uuid:pk>/session/", session.session, name="run-session"),
    path("runs/<uuid:pk>/answers/", answers.answers, name="run-answers"),
    path("runs/<uuid:pk>/answers/preview/", answers.preview, name="run-answers-preview"),
    path("runs/<uuid:pk>/answers/declined/", answers.declined, name="run-answers-declined"),
    path("runs/<uuid:pk>/calls/", calls.calls, name="run-calls"),
    path("runs/<uuid:pk>/calls/preview/", calls.preview, name="run-calls-preview"),
    path("runs/<uuid:pk>/messages/<int:seq>/<int:part>/", calls.message, name="run-message"),
    path(
        "runs/<uuid:pk>/messages/<int:seq>/<int:part>/parts/<int:number>/",
        calls.text,
        name="run-message-text",
    ),
    path("runs/<uuid:pk>/results/", run_parts.results, name="run-results"),
    path("runs/<uuid:pk>/events/", run_parts.events, name="run-events"),
    path("runs/<uuid:pk>/events/<int:seq>/", run_parts.event, name="run-event"),
    path("runs/<uuid:pk>/items/<int:seq>/<int:part>/", run_parts.item, name="run-item"),
    path("runs/<uuid:pk>/told/", told.told, name="run-told"),
    path("runs/<uuid:pk>/timeline/", run_parts.timeline, name="run-timeline"),
    path("runs/<uuid:pk>/wire/", run_parts.wire, name="run-wire"),
    path("runs/<uuid:pk>/wire.txt", run_parts.wire_text, name="run-wire-text"),
    path("runs/<uuid:pk>/standard-client/", run_parts.standard_client, name="run-standard-client"),
    path("runs/<uuid:pk>/promise/checks/", promises.checks, name="run-promise-checks"),
    path(
        "runs/<uuid:pk>/promise/cancellation/",
        promises.cancellation,
        name="run-promise-cancellation",
    ),
    path("runs/<uuid:pk>/promise/following/", promises.following, name="run-promise-following"),
    path(
        "runs/<uuid:pk>/actions/<int:seq>/<int:part>/<int:number>/",
        actions.action,
        name="run-action",
    ),
    path(
        "runs/<uuid:pk>/actions/<int:seq>/<int:part>/<int:number>/preview/",
        actions.preview,
        name="run-action-preview",
    ),
    path(
        "runs/<uuid:pk>/actions/<int:seq>/<int:part>/<int:number>/peer/",
        actions.peer,
        name="run-action-peer",
    ),
    path("runs/<uuid:pk>/conformance/", conformance.report, name="run-conformance"),
    path("runs/<uuid:pk>/conformance/count/", conformance.count, name="run-conformance-count"),
    path("runs/<uuid:pk>/conformance.json", conformance.document, name="run-conformance-json"),
    path("runs/<uuid:pk>/checks/", expectations.checks, name="run-checks"),
    path("runs/<uuid:pk>/checks/tally/", expectations.tally, name="run-checks-tally"),
    path("runs/<uuid:pk>/document/", expectations.document, name="run-document"),
    path("expectations/try/", expectations.attempt, name="expectations-try"),
    path("runs/<uuid:pk>/pane/", twins.pane, name="run-pane"),
    path("twins/", twins.create, name="twins"),
    path("twins/choices/", twins.choices, name="twin-choices"),
    path("twins/<uuid:pk>/", twins.twin, name="twin"),
    path("twins/<uuid:pk>/difference/", twins.difference, name="twin-difference"),
    path("collections/import/", imports.collection_import, name="collection-import"),
    path("collections/<slug:slug>/export/", exports.collection_export, name="collection-export"),
    path("collections/<slug:slug>/disk/", disk.collection_disk, name="collection-disk"),
    path("rules/", conformance.rules, name="rules"),
    path("saved-requests/", saved.saved_requests, name="saved-requests"),
    path(
        "collections/<slug:slug>/requests/<slug:saved>/",
        saved.saved_request,
        name="saved-request",
    ),
    path("agents/", agents.agents, name="agents"),
    path("agents/new/", agents.new, name="agent-new"),
    path("agents/<slug:slug>/", agents.agent, name="agent"),
    path("agents/<slug:slug>/doctor/", doctor.examination, name="agent-doctor"),
    path("agents/<slug:slug>/doctor/report/", doctor.report, name="agent-doctor-report"),
    path("agents/<slug:slug>/doctor/use/", doctor.use, name="agent-doctor-use"),
    path("agents/<slug:slug>/tools/", agents.tools, name="agent-tools"),
    path("agents/<slug:slug>/deletion/", agents.deletion, name="agent-deletion"),
]

if settings.HOSTED:
    urlpatterns += [
        path("login/", LoginView.as_view(), name="login"),
        path("logout/", LogoutView.as_view(), name="logout"),
    ]
if settings.DEMO_ENABLED:
    urlpatterns.append(path("demo/", include("playground.demo.urls")))
    urlpatterns.append(path("", include("playground.demo.wellknown")))
