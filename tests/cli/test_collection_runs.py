"""Printed steps of a collection run."""

from __future__ import annotations

import pytest

from playground.cli.collection_runs import WAITING_FOR_LIMIT, StepPrinter


def test_that_there_is_no_room_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    teller = StepPrinter(2, lines=True, numbered=False)
    teller.wait()
    teller.wait()
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", WAITING_FOR_LIMIT + "\n")
