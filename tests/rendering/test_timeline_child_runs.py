"""Child runs on the timeline."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from playground.rendering.timeline import microseconds_since, spans_of
from tests.support.action_runs import action, offering

pytestmark = pytest.mark.django_db


class TestSpans:
    def test_each_run_below_is_a_span(self) -> None:
        run = offering(started_at=timezone.now())
        child = action(run, started_at=run.started_at + timedelta(seconds=2))
        action(child, state="streaming", ended_us=None)
        action(run, state="interrupted", ended_us=None)
        spans = spans_of(run)
        assert [span.label for span in spans] == ["Action add"] * 3
        assert (spans[0].start, spans[0].end) == (2_000_000, 2_001_000)
        assert spans[1].end is None
        assert spans[2].end == spans[2].start

    def test_nothing_is_before_the_beginning(self) -> None:
        run = offering()
        assert microseconds_since(run, run.created_at - timedelta(hours=1)) == 0
