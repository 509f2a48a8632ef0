"""Rows of the sidebar's history, where collection runs are groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db.models.functions import Length

from playground.conversation.status import binding_of, version_of
from playground.models import CollectionRun, Run, Step
from playground.models.collection_runs import count_verdicts
from playground.protocols.diff.responses import Difference, compare_documents
from playground.ui.formatting import json_preview

#: Longest request document that the sidebar compares, as stored, and most documents of a page.
MAX_DOCUMENT, MAX_DOCUMENTS = 8_000, 40
#: Characters of a value in a change.
_MAX_VALUE = 24


def sidebar_rows(entries: Sequence[Run | CollectionRun]) -> list[dict[str, Any]]:
    """Return the rows for `history/sidebar.html`: runs, and collection runs with their verdicts.

    `change` is what differs from the latest earlier run with the same text, such as "prefer.mode
    list → summarize"; "" for nothing, or for another text.
    """
    counts = count_verdicts([entry for entry in entries if isinstance(entry, CollectionRun)])
    changes = dict(_changes([entry for entry in entries if isinstance(entry, Run)]))
    return [
        {"run": entry, "change": changes.get(entry.pk, "")}
        if isinstance(entry, Run)
        else _group(entry, counts[entry.pk])
        for entry in entries
    ]


def _group(run: CollectionRun, counts: Counter[str]) -> dict[str, Any]:
    """Return a collection run as a row that stands for its runs."""
    failed = counts[Step.Verdict.UNMET] + counts[Step.Verdict.UNSENT]
    state = str(run.state)
    if state == CollectionRun.State.COMPLETED:
        state = "failed" if failed else "passed"
    return {
        "collection_run": run,
        "passed": counts[Step.Verdict.MET],
        "failed": failed,
        "state": state,
    }


def _changes(runs: Sequence[Run]) -> Iterator[tuple[UUID, str]]:
    """Yield what differs between each run and the latest earlier one on the page with its text."""
    pairs: list[tuple[Run, Run]] = []
    later: dict[str, Run] = {}
    for run in runs:
        if run.text and (newer := later.get(run.text)):
            pairs.append((run, newer))
        later[run.text] = run
    keys = list({each.pk for pair in pairs for each in pair})[:MAX_DOCUMENTS]
    documents = (
        dict(
            Run.objects.filter(pk__in=keys)
            .alias(length=Length("request"))
            .filter(length__lte=MAX_DOCUMENT)
            .values_list("pk", "request")
        )
        if keys
        else {}
    )
    for old, new in pairs:
        parts = list(_target_changes(old, new))
        if old.pk in documents and new.pk in documents and old.protocol == new.protocol:
            compared = compare_documents(documents[old.pk], documents[new.pk])
            parts += [text for each in compared.differences if (text := _change_text(each))]
        if parts:
            more = f", {len(parts) - 2} more" if len(parts) > 2 else ""
            yield new.pk, ", ".join(parts[:2]) + more


def _target_changes(old: Run, new: Run) -> Iterator[str]:
    """Yield the differences of two targets: agent, version and binding."""
    if old.agent_name != new.agent_name:
        yield f"to {new.agent_name}"
    if old.protocol != new.protocol or old.version != new.version:
        labels = [version_of(each).label or each.version for each in (old, new)]
        yield " → ".join(labels)
    if old.binding != new.binding and old.protocol == new.protocol:
        yield f"{binding_of(old)} → {binding_of(new)}"


def _change_text(difference: Difference) -> str:
    """Return a difference of two documents as "prefer.mode list → summarize"."""
    path = difference.pointer.removeprefix("/").replace("/", ".") or "request"
    if path == "meta.version":
        return ""  # Named with the target.
    if difference.change == "added":
        return f"+ {path} {json_preview(difference.right, _MAX_VALUE)}"
    if difference.change == "removed":
        return f"− {path}"
    if difference.change == "moved":
        return f"{path} reordered"
    left, right = (json_preview(each, _MAX_VALUE) for each in (difference.left, difference.right))
    return f"{path} {left} → {right}"
