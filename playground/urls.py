"""URL patterns of all pages; those below one object, such as a run, are lists of their own."""

from __future__ import annotations

from typing import TypeAlias

from django.conf import settings
from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, URLResolver, include, path

from playground.agents import views as agents
from playground.collection_runs import views as collection_runs
from playground.collections import files, saved_requests, trash
from playground.collections import views as collections
from playground.compare import views as compare
from playground.composer import deep_links, workbench
from playground.composer import views as composer
from playground.conversation import (
    actions,
    elicitation,
    media,
    notes,
    promises,
    tool_call_answers,
)
from playground.environments import views as environments
from playground.history import views as history
from playground.import_export import views as import_export
from playground.lessons import editor
from playground.lessons import views as lessons
from playground.reference import views as reference
from playground.shares import views as shares
from playground.site import login, probes, sidebar
from playground.verdicts import conformance, expectations
from playground.wire import annotations as annotated_exchange
from playground.wire import views as wire
from playground.wire.sequence import views as sequence

Routes: TypeAlias = list[URLPattern | URLResolver]

ACTION: Routes = [
    path("", actions.action, name="run-action"),
    path("preview/", actions.preview, name="run-action-preview"),
    path("server/", actions.server, name="run-action-server"),
]

RUN: Routes = [
    path("", workbench.run_page, name="run"),
    path("response/", workbench.run_response, name="run-response"),
    path("cancellation/", composer.cancellation, name="run-cancellation"),
    path("repetition/", composer.repeat, name="run-repeat"),
    path("pane/", compare.run_frame, name="run-frame"),
    # Tabs and files
    path("results/", wire.results, name="run-results"),
    path("events/", wire.events, name="run-events"),
    path("events/<int:seq>/", wire.event, name="run-event"),
    path("items/<int:seq>/<int:part>/", wire.item, name="run-item"),
    path("picture/", media.picture, name="run-picture"),
    path("contents/<int:seq>/<int:part>/", media.content, name="run-content"),
    path(
        "contents/<int:seq>/<int:part>/<int:number>/",
        media.message_content,
        name="run-message-content",
    ),
    path("timeline/", wire.timeline, name="run-timeline"),
    path("sequence/", sequence.sequence, name="run-sequence"),
    path("sequence.svg", sequence.svg, name="run-sequence-svg"),
    path("sequence.mmd", sequence.mermaid, name="run-sequence-mermaid"),
    path("wire/", wire.wire, name="run-wire"),
    path("wire.txt", wire.wire_text, name="run-wire-text"),
    path("annotations/", annotated_exchange.blocks, name="run-annotations"),
    path("standard-client/", wire.standard_client, name="run-sse-reference"),
    path("server-log/", notes.server_log, name="run-server-log"),
    path("session/", wire.session, name="run-session"),
    path("code/", import_export.run_code, name="run-code"),
    path("run.har", import_export.run_har, name="run-har"),
    path("conformance/", conformance.report, name="run-conformance"),
    path("conformance/count/", conformance.count, name="run-conformance-count"),
    path("conformance.json", conformance.document, name="run-conformance-json"),
    path("checks/", expectations.checks, name="run-checks"),
    path("checks/count/", expectations.count, name="run-checks-count"),
    path("failure/", wire.first_failure, name="run-first-failure"),
    path("document/", expectations.document, name="run-document"),
    # Conversations
    path("next/", workbench.follow_up, name="run-follow-up"),
    path("turn/", workbench.turn, name="run-turn"),
    path("turns/", workbench.turns, name="run-turns"),
    path("request/", workbench.turn_request, name="run-request"),
    # Elicitation and tool calls
    path("answers/", elicitation.answers, name="run-answers"),
    path("answers/preview/", elicitation.preview, name="run-answers-preview"),
    path("answers/declined/", elicitation.declined, name="run-answers-declined"),
    path("calls/", tool_call_answers.tool_outputs, name="run-tool-outputs"),
    path("calls/preview/", tool_call_answers.preview, name="run-tool-outputs-preview"),
    path("messages/<int:seq>/<int:part>/", tool_call_answers.message, name="run-message"),
    path(
        "messages/<int:seq>/<int:part>/parts/<int:number>/",
        tool_call_answers.message_text,
        name="run-message-text",
    ),
    # Promises
    path("promise/polls/", promises.poll, name="run-promise-polls"),
    path("promise/cancellation/", promises.cancellation, name="run-promise-cancellation"),
    path("promise/polling/", promises.polling, name="run-promise-polling"),
    path("actions/<int:seq>/<int:part>/<int:number>/", include(ACTION)),
    # Connection doctor
    path("doctor/", agents.diagnosis, name="run-doctor"),
    path("doctor/report/", agents.report, name="run-doctor-report"),
]

FOLDER: Routes = [
    path("details/", collections.details, name="folder-details"),
    path("place/", collections.move_folder, name="folder-move"),
    path("duplication/", collections.duplication, name="folder-duplicate"),
    path("deletion/", trash.deletion, name="folder-deletion"),
]

SAVED_REQUEST: Routes = [
    path("", saved_requests.saved_request, name="saved-request"),
    path("details/", collections.details, name="saved-request-details"),
    path("notes/", saved_requests.notes, name="saved-request-notes"),
    path("place/", collections.move_request, name="saved-request-move"),
    path("duplication/", collections.duplication, name="saved-request-duplicate"),
    path("deletion/", trash.deletion, name="saved-request-deletion"),
    path("reply/", import_export.saved_response, name="saved-response"),
]

COLLECTION: Routes = [
    path("", collections.collection, name="collection"),
    path("outline/", collections.outline, name="collection-outline"),
    path("details/", collections.details, name="collection-details"),
    path("place/", collections.move_collection, name="collection-position"),
    path("duplication/", collections.duplication, name="collection-duplicate"),
    path("deletion/", trash.deletion, name="collection-deletion"),
    path("export/", import_export.collection_export, name="collection-export"),
    path("postman/", import_export.collection_postman, name="collection-postman"),
    path("disk/", files.collection_disk, name="collection-disk"),
    path("folders/", collections.folders, name="folders"),
    path("folders/<slug:folder>/", include(FOLDER)),
    path("requests/<slug:saved>/", include(SAVED_REQUEST)),
]

COLLECTION_RUN: Routes = [
    path("", collection_runs.run, name="collection-run"),
    path("cancellation/", collection_runs.cancellation, name="collection-run-cancellation"),
    path("report.<slug:kind>", collection_runs.report, name="collection-run-report"),
]

LESSON_STEP: Routes = [
    path("", lessons.step, name="lesson-step"),
    path("check/", lessons.check, name="lesson-check"),
    path("hints/", lessons.hints, name="lesson-hints"),
    path("solution/", lessons.solution, name="lesson-solution"),
]

LESSON: Routes = [
    path("", lessons.lesson, name="lesson"),
    path("progress/", lessons.progress, name="lesson-progress"),
    path("edit/", editor.lesson, name="lesson-edit"),
    path("edit/<slug:step>/", editor.step, name="lesson-step-edit"),
    path("steps/<slug:step>/", include(LESSON_STEP)),
]

ENVIRONMENT: Routes = [
    path("", environments.environment, name="environment"),
    path("name/", environments.rename, name="environment-rename"),
    path("copy/", environments.copy, name="environment-duplicate"),
    path("deletion/", environments.deletion, name="environment-deletion"),
    path("secrets/<str:name>/", environments.reveal, name="environment-reveal"),
]

AGENT: Routes = [
    path("", agents.agent, name="agent"),
    path("doctor/", agents.diagnosis, name="agent-doctor"),
    path("doctor/report/", agents.report, name="agent-doctor-report"),
    path("doctor/use/", agents.apply_detected, name="agent-doctor-apply"),
    path("tools/", agents.tools, name="agent-tools"),
    path("deletion/", agents.deletion, name="agent-deletion"),
]

urlpatterns: Routes = [
    # For load balancers and monitoring
    path("ready/", probes.readiness, name="readiness"),
    path("metrics", probes.metrics, name="metrics"),
    # The workbench and its composer
    path("", workbench.workbench, name="workbench"),
    path("links/", deep_links.create, name="deep-links"),
    path("links/request/", deep_links.request_of_fragment, name="deep-link-request"),
    path("compose/preview/", composer.preview, name="compose-preview"),
    path("compose/code/", import_export.code, name="compose-code"),
    path("formats/curl/", import_export.curl, name="format-curl"),
    path("schemas/<slug:protocol>/<str:version>/<slug:name>.json", composer.schema, name="schema"),
    path(
        "explanations/<slug:protocol>/<str:version>/<slug:schema>/",
        reference.explanation,
        name="explanation",
    ),
    path("expectations/", expectations.editor, name="expectations"),
    path("expectations/try/", expectations.try_expectations, name="expectations-try"),
    # Runs: Send is POST runs/
    path("runs/", composer.runs, name="runs"),
    path("runs/<uuid:pk>/", include(RUN)),
    # Rules and reference
    path("rules/", reference.rules, name="rules"),
    path("rules/<slug:group>/<str:rule_id>/", reference.rule, name="rule"),
    path("reference/", reference.references, name="references"),
    path("reference/<slug:protocol>/<str:version>/", reference.reference, name="reference"),
    path(
        "reference/<slug:protocol>/<str:version>/changes/",
        reference.changes,
        name="reference-changes",
    ),
    # Twins and comparisons
    path("twins/", compare.create, name="twins"),
    path("twins/choices/", compare.twin_choices, name="twin-choices"),
    path("twins/<uuid:pk>/", compare.twin, name="twin"),
    path("twins/<uuid:pk>/difference/", compare.difference, name="twin-difference"),
    path("compare/", compare.compare, name="compare"),
    path("compare/choices/", compare.choices, name="compare-choices"),
    # History
    path("history/", history.history, name="history"),
    path("history/deletion/", history.deletion, name="history-deletion"),
    path("history/retention/", history.retention, name="history-retention"),
    path("history/retention/preview/", history.retention_preview, name="history-retention-preview"),
    # Shares
    path("shares/", shares.shares, name="shares"),
    path("shares/new/", shares.new, name="share-new"),
    path("shares/<str:token>/", shares.share_created, name="share-created"),
    path("shares/<str:token>/revocation/", shares.revocation, name="share-revoke"),
    path("s/<str:token>/", shares.share, name="share"),
    path("s/<str:token>/copy/", shares.copy, name="share-copy"),
    path("s/<str:token>/fixture.json", shares.fixture, name="share-fixture"),
    # Lessons: fixed addresses before those with a slug
    path("lessons/", lessons.lessons, name="lessons"),
    path("lessons/shipped/<slug:slug>/", lessons.add_shipped, name="lesson-shipped"),
    path("lessons/<slug:slug>/", include(LESSON)),
    # Collections: fixed addresses before those with a slug
    path("collections/", collections.collections, name="collections"),
    path("collections/new/", collections.new, name="collection-new"),
    path("collections/search/", sidebar.search, name="collection-search"),
    path("collections/import/", import_export.collection_import, name="collection-import"),
    path(
        "collections/import/shipped/<slug:slug>/", trash.reload_shipped, name="collection-shipped"
    ),
    path("collections/undo/<slug:model>/<int:key>/", trash.undo, name="trash-restore"),
    path("sidebar/", sidebar.sidebar, name="sidebar"),
    path("sidebar/<slug:slug>/", sidebar.sidebar_node, name="sidebar-node"),
    path("collections/<slug:slug>/", include(COLLECTION)),
    path("saved-requests/", saved_requests.saved_requests, name="saved-requests"),
    # Collection runs
    path("collection-runs/", collection_runs.runs, name="collection-runs"),
    path("collection-runs/new/", collection_runs.new, name="collection-run-new"),
    path("collection-runs/<uuid:pk>/", include(COLLECTION_RUN)),
    # Environments
    path("environments/", environments.environments, name="environments"),
    path("environments/active/", environments.choice, name="environment-choice"),
    path("environments/active/values/", environments.values, name="environment-values"),
    path("environments/new/variable/", environments.variable, name="environment-variable"),
    path("environments/<slug:slug>/", include(ENVIRONMENT)),
    # Agents
    path("agents/", agents.agents, name="agents"),
    path("agents/new/", agents.new_agent, name="agent-new"),
    path("agents/<slug:slug>/", include(AGENT)),
    path("detection/", agents.detection, name="detection"),
]

if settings.HOSTED:
    urlpatterns += [
        path("login/", login.LoginView.as_view(), name="login"),
        path("logout/", LogoutView.as_view(), name="logout"),
    ]
if settings.DEMO_ENABLED:
    urlpatterns.append(path("demo/", include("playground.demo.urls")))
    urlpatterns.append(path("", include("playground.demo.wellknown")))

handler400 = "playground.site.middleware.bad_request"
handler500 = "playground.site.middleware.server_error"
