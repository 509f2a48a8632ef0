"""URL patterns of all pages, grouped by resource as the modules of `playground.views` are."""

from __future__ import annotations

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
    pictures,
    promises,
    server_log,
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
from playground.wire import session
from playground.wire import views as wire
from playground.wire.sequence import views as sequence

urlpatterns: list[URLPattern | URLResolver] = [
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
    path("runs/<uuid:pk>/", workbench.run_page, name="run"),
    path("runs/<uuid:pk>/response/", workbench.run_response, name="run-response"),
    path("runs/<uuid:pk>/cancellation/", composer.cancellation, name="run-cancellation"),
    path("runs/<uuid:pk>/repetition/", composer.repeat, name="run-repeat"),
    path("runs/<uuid:pk>/pane/", compare.run_frame, name="run-frame"),
    # Tabs and files of a run
    path("runs/<uuid:pk>/results/", wire.results, name="run-results"),
    path("runs/<uuid:pk>/events/", wire.events, name="run-events"),
    path("runs/<uuid:pk>/events/<int:seq>/", wire.event, name="run-event"),
    path("runs/<uuid:pk>/items/<int:seq>/<int:part>/", wire.item, name="run-item"),
    path("runs/<uuid:pk>/picture/", pictures.picture, name="run-picture"),
    path("runs/<uuid:pk>/contents/<int:seq>/<int:part>/", pictures.content, name="run-content"),
    path(
        "runs/<uuid:pk>/contents/<int:seq>/<int:part>/<int:number>/",
        pictures.message_content,
        name="run-message-content",
    ),
    path("runs/<uuid:pk>/timeline/", wire.timeline, name="run-timeline"),
    path("runs/<uuid:pk>/sequence/", sequence.sequence, name="run-sequence"),
    path("runs/<uuid:pk>/sequence.svg", sequence.svg, name="run-sequence-svg"),
    path("runs/<uuid:pk>/sequence.mmd", sequence.mermaid, name="run-sequence-mermaid"),
    path("runs/<uuid:pk>/wire/", wire.wire, name="run-wire"),
    path("runs/<uuid:pk>/wire.txt", wire.wire_text, name="run-wire-text"),
    path("runs/<uuid:pk>/annotations/", annotated_exchange.blocks, name="run-annotations"),
    path("runs/<uuid:pk>/standard-client/", wire.standard_client, name="run-sse-reference"),
    path("runs/<uuid:pk>/server-log/", server_log.server_log, name="run-server-log"),
    path("runs/<uuid:pk>/session/", session.session, name="run-session"),
    path("runs/<uuid:pk>/code/", import_export.run_code, name="run-code"),
    path("runs/<uuid:pk>/run.har", import_export.run_har, name="run-har"),
    path("runs/<uuid:pk>/conformance/", conformance.report, name="run-conformance"),
    path("runs/<uuid:pk>/conformance/count/", conformance.count, name="run-conformance-count"),
    path("runs/<uuid:pk>/conformance.json", conformance.document, name="run-conformance-json"),
    path("rules/", reference.rules, name="rules"),
    path("rules/<slug:group>/<str:rule_id>/", reference.rule, name="rule"),
    path("reference/", reference.references, name="references"),
    path("reference/<slug:protocol>/<str:version>/", reference.reference, name="reference"),
    path(
        "reference/<slug:protocol>/<str:version>/changes/",
        reference.changes,
        name="reference-changes",
    ),
    path("runs/<uuid:pk>/checks/", expectations.checks, name="run-checks"),
    path("runs/<uuid:pk>/checks/count/", expectations.count, name="run-checks-count"),
    path("runs/<uuid:pk>/failure/", wire.first_failure, name="run-first-failure"),
    path("runs/<uuid:pk>/document/", expectations.document, name="run-document"),
    # Conversations
    path("runs/<uuid:pk>/next/", workbench.follow_up, name="run-follow-up"),
    path("runs/<uuid:pk>/turn/", workbench.turn, name="run-turn"),
    path("runs/<uuid:pk>/turns/", workbench.turns, name="run-turns"),
    path("runs/<uuid:pk>/request/", workbench.turn_request, name="run-request"),
    # Elicitation and tool calls
    path("runs/<uuid:pk>/answers/", elicitation.answers, name="run-answers"),
    path("runs/<uuid:pk>/answers/preview/", elicitation.preview, name="run-answers-preview"),
    path("runs/<uuid:pk>/answers/declined/", elicitation.declined, name="run-answers-declined"),
    path("runs/<uuid:pk>/calls/", tool_call_answers.tool_outputs, name="run-tool-outputs"),
    path(
        "runs/<uuid:pk>/calls/preview/", tool_call_answers.preview, name="run-tool-outputs-preview"
    ),
    path(
        "runs/<uuid:pk>/messages/<int:seq>/<int:part>/",
        tool_call_answers.message,
        name="run-message",
    ),
    path(
        "runs/<uuid:pk>/messages/<int:seq>/<int:part>/parts/<int:number>/",
        tool_call_answers.message_text,
        name="run-message-text",
    ),
    # Promises
    path("runs/<uuid:pk>/promise/polls/", promises.poll, name="run-promise-polls"),
    path(
        "runs/<uuid:pk>/promise/cancellation/",
        promises.cancellation,
        name="run-promise-cancellation",
    ),
    path("runs/<uuid:pk>/promise/polling/", promises.polling, name="run-promise-polling"),
    # Actions
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
        "runs/<uuid:pk>/actions/<int:seq>/<int:part>/<int:number>/server/",
        actions.server,
        name="run-action-server",
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
    path(
        "history/retention/preview/",
        history.retention_preview,
        name="history-retention-preview",
    ),
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
    path("lessons/<slug:slug>/", lessons.lesson, name="lesson"),
    path("lessons/<slug:slug>/progress/", lessons.progress, name="lesson-progress"),
    path("lessons/<slug:slug>/edit/", editor.lesson, name="lesson-edit"),
    path("lessons/<slug:slug>/edit/<slug:step>/", editor.step, name="lesson-step-edit"),
    path("lessons/<slug:slug>/steps/<slug:step>/", lessons.step, name="lesson-step"),
    path("lessons/<slug:slug>/steps/<slug:step>/check/", lessons.check, name="lesson-check"),
    path("lessons/<slug:slug>/steps/<slug:step>/hints/", lessons.hints, name="lesson-hints"),
    path(
        "lessons/<slug:slug>/steps/<slug:step>/solution/",
        lessons.solution,
        name="lesson-solution",
    ),
    # Collections: fixed addresses before those with a slug
    path("collections/", collections.collections, name="collections"),
    path("collections/new/", collections.new, name="collection-new"),
    path("collections/search/", sidebar.search, name="collection-search"),
    path("collections/import/", import_export.collection_import, name="collection-import"),
    path(
        "collections/import/shipped/<slug:slug>/",
        trash.reload_shipped,
        name="collection-shipped",
    ),
    path("collections/undo/<slug:model>/<int:key>/", trash.undo, name="trash-restore"),
    path("sidebar/", sidebar.sidebar, name="sidebar"),
    path("sidebar/<slug:slug>/", sidebar.sidebar_node, name="sidebar-node"),
    path("collections/<slug:slug>/", collections.collection, name="collection"),
    path("collections/<slug:slug>/outline/", collections.outline, name="collection-outline"),
    path("collections/<slug:slug>/details/", collections.details, name="collection-details"),
    path(
        "collections/<slug:slug>/place/",
        collections.move_collection,
        name="collection-position",
    ),
    path(
        "collections/<slug:slug>/duplication/",
        collections.duplication,
        name="collection-duplicate",
    ),
    path("collections/<slug:slug>/deletion/", trash.deletion, name="collection-deletion"),
    path(
        "collections/<slug:slug>/export/",
        import_export.collection_export,
        name="collection-export",
    ),
    path(
        "collections/<slug:slug>/postman/",
        import_export.collection_postman,
        name="collection-postman",
    ),
    path("collections/<slug:slug>/disk/", files.collection_disk, name="collection-disk"),
    # Folders of a collection
    path("collections/<slug:slug>/folders/", collections.folders, name="folders"),
    path(
        "collections/<slug:slug>/folders/<slug:folder>/details/",
        collections.details,
        name="folder-details",
    ),
    path(
        "collections/<slug:slug>/folders/<slug:folder>/place/",
        collections.move_folder,
        name="folder-move",
    ),
    path(
        "collections/<slug:slug>/folders/<slug:folder>/duplication/",
        collections.duplication,
        name="folder-duplicate",
    ),
    path(
        "collections/<slug:slug>/folders/<slug:folder>/deletion/",
        trash.deletion,
        name="folder-deletion",
    ),
    # Saved requests
    path("saved-requests/", saved_requests.saved_requests, name="saved-requests"),
    path(
        "collections/<slug:slug>/requests/<slug:saved>/",
        saved_requests.saved_request,
        name="saved-request",
    ),
    path(
        "collections/<slug:slug>/requests/<slug:saved>/details/",
        collections.details,
        name="saved-request-details",
    ),
    path(
        "collections/<slug:slug>/requests/<slug:saved>/notes/",
        saved_requests.notes,
        name="saved-request-notes",
    ),
    path(
        "collections/<slug:slug>/requests/<slug:saved>/place/",
        collections.move_request,
        name="saved-request-move",
    ),
    path(
        "collections/<slug:slug>/requests/<slug:saved>/duplication/",
        collections.duplication,
        name="saved-request-duplicate",
    ),
    path(
        "collections/<slug:slug>/requests/<slug:saved>/deletion/",
        trash.deletion,
        name="saved-request-deletion",
    ),
    path(
        "collections/<slug:slug>/requests/<slug:saved>/reply/",
        import_export.saved_response,
        name="saved-response",
    ),
    # Collection runs
    path("collection-runs/", collection_runs.runs, name="collection-runs"),
    path("collection-runs/new/", collection_runs.new, name="collection-run-new"),
    path("collection-runs/<uuid:pk>/", collection_runs.run, name="collection-run"),
    path(
        "collection-runs/<uuid:pk>/cancellation/",
        collection_runs.cancellation,
        name="collection-run-cancellation",
    ),
    path(
        "collection-runs/<uuid:pk>/report.<slug:kind>",
        collection_runs.report,
        name="collection-run-report",
    ),
    # Environments
    path("environments/", environments.environments, name="environments"),
    path("environments/active/", environments.choice, name="environment-choice"),
    path("environments/active/values/", environments.values, name="environment-values"),
    path("environments/new/variable/", environments.variable, name="environment-variable"),
    path("environments/<slug:slug>/", environments.environment, name="environment"),
    path("environments/<slug:slug>/name/", environments.rename, name="environment-rename"),
    path("environments/<slug:slug>/copy/", environments.copy, name="environment-duplicate"),
    path("environments/<slug:slug>/deletion/", environments.deletion, name="environment-deletion"),
    path(
        "environments/<slug:slug>/secrets/<str:name>/",
        environments.reveal,
        name="environment-reveal",
    ),
    # Agents
    path("agents/", agents.agents, name="agents"),
    path("agents/new/", agents.new_agent, name="agent-new"),
    path("agents/<slug:slug>/", agents.agent, name="agent"),
    path("agents/<slug:slug>/doctor/", agents.diagnosis, name="agent-doctor"),
    path("agents/<slug:slug>/doctor/report/", agents.report, name="agent-doctor-report"),
    path("agents/<slug:slug>/doctor/use/", agents.apply_detected, name="agent-doctor-apply"),
    path("detection/", agents.detection, name="detection"),
    path("runs/<uuid:pk>/doctor/", agents.diagnosis, name="run-doctor"),
    path("runs/<uuid:pk>/doctor/report/", agents.report, name="run-doctor-report"),
    path("agents/<slug:slug>/tools/", agents.tools, name="agent-tools"),
    path("agents/<slug:slug>/deletion/", agents.deletion, name="agent-deletion"),
]

if settings.HOSTED:
    urlpatterns += [
        path("login/", login.LoginView.as_view(), name="login"),
        path("logout/", LogoutView.as_view(), name="logout"),
    ]
if settings.DEMO_ENABLED:
    urlpatterns.append(path("demo/", include("playground.demo.urls")))
    urlpatterns.append(path("", include("playground.demo.wellknown")))

handler400 = "playground.site.errors.bad_request"
handler500 = "playground.site.errors.server_error"
