"""Notifications: at once within the process, by one membership of a group between processes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from channels.layers import InMemoryChannelLayer

from playground import notifications
from playground.base.jobs import running_tasks
from playground.models import Run
from playground.models.frames import Flush
from playground.notifications import Notifier

STORED = Flush(Run(), [], {"state": "streaming"})


class Layer:
    """A channel layer that reaches other processes: here, other notifiers."""

    def __init__(self) -> None:
        self._layer = InMemoryChannelLayer()
        self.calls: Counter[str] = Counter()
        self.messages: list[Any] = []
        #: Methods that fail.
        self.broken: set[str] = set()
        #: Set, messages are sent.
        self.open = asyncio.Event()
        self.open.set()

    async def _call(self, name: str, *args: Any) -> Any:
        self.calls[name] += 1
        if name in self.broken:
            raise ConnectionRefusedError(f"no {name} today")
        return await getattr(self._layer, name)(*args)

    async def new_channel(self) -> Any:
        return await self._call("new_channel")

    async def group_add(self, *args: Any) -> Any:
        return await self._call("group_add", *args)

    async def group_discard(self, *args: Any) -> Any:
        return await self._call("group_discard", *args)

    async def receive(self, channel: str) -> Any:
        return await self._call("receive", channel)

    async def group_send(self, group: str, message: Any) -> Any:
        await self.open.wait()
        self.messages.append(message)
        return await self._call("group_send", group, message)


@pytest.fixture
async def layer(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Layer]:
    found = Layer()
    monkeypatch.setattr(notifications, "get_channel_layer", lambda: found)
    monkeypatch.setattr(notifications, "RETRY", 0.0)
    yield found
    for task in running_tasks():
        task.cancel()


class Subscriber:
    """Counts the notifications of one group."""

    def __init__(self) -> None:
        self.got: list[Flush | None] = []
        self._changed = asyncio.Event()

    def __call__(self, stored: Flush | None) -> None:
        self.got.append(stored)
        self._changed.set()

    async def has(self, count: int) -> None:
        async with asyncio.timeout(5):
            while len(self.got) < count:
                self._changed.clear()
                await self._changed.wait()


async def subscribed(notifier: Notifier, group: str) -> Subscriber:
    found = Subscriber()
    await notifier.subscribe(group, found)
    return found


async def test_subscribers_of_the_process_are_called_at_once_with_what_was_stored() -> None:
    notifier = Notifier()
    run, other, parent = [await subscribed(notifier, name) for name in ("run", "other", "parent")]
    notifier.notify(["run", "parent"], STORED)
    assert (run.got, other.got, parent.got) == ([STORED], [], [None])
    notifier.notify(["run"])
    assert run.got == [STORED, None]
    notifier.unsubscribe("run", run)
    notifier.notify(["run"], STORED)
    assert len(run.got) == 2
    assert not notifier.has_subscribers("run")


async def test_another_process_gets_the_group_and_no_data(layer: Layer) -> None:
    here, there = Notifier(), Notifier()
    local, remote = await subscribed(here, "run"), await subscribed(there, "run")
    here.notify(["run"], STORED)
    await here.flush()
    await remote.has(1)
    assert (local.got, remote.got) == ([STORED], [None])
    [message] = layer.messages
    assert message.keys() == {"type", "group", "sender"}
    # Its own message is no second notification.
    there.notify(["run"])
    await local.has(2)
    assert local.got == [STORED, None]
    assert remote.got == [None, None]


async def test_a_process_joins_a_group_once(layer: Layer) -> None:
    notifier = Notifier()
    subscribers = await asyncio.gather(*(subscribed(notifier, "run") for _ in range(50)))
    assert (layer.calls["new_channel"], layer.calls["group_add"]) == (1, 1)
    await subscribed(notifier, "other")
    assert layer.calls["group_add"] == 2
    for subscriber in subscribers:
        notifier.unsubscribe("run", subscriber)
    async with asyncio.timeout(5):
        while not layer.calls["group_discard"]:
            await asyncio.sleep(0)
    assert layer.calls["group_discard"] == 1


async def test_notifications_that_wait_are_sent_once_for_each_group(layer: Layer) -> None:
    layer.open.clear()
    notifier = Notifier()
    for _ in range(100):
        notifier.notify(["run", "parent"])
    waiting = asyncio.ensure_future(notifier.flush())
    await asyncio.sleep(0)
    layer.open.set()
    await asyncio.wait_for(waiting, 5)
    groups = Counter(message["group"] for message in layer.messages)
    assert set(groups) == {"run", "parent"}
    assert groups.total() <= 3


@pytest.mark.parametrize("broken", ["new_channel", "group_add", "group_send"])
async def test_a_channel_layer_that_is_down_is_logged_and_stops_nothing(
    layer: Layer, broken: str, caplog: pytest.LogCaptureFixture
) -> None:
    layer.broken = {broken}
    here, there = Notifier(), Notifier()
    local, remote = await subscribed(here, "run"), await subscribed(there, "run")
    here.notify(["run"], STORED)
    await asyncio.wait_for(here.flush(), 5)
    assert local.got == [STORED]
    assert f"no {broken} today" in caplog.text
    # Back again, it is used with the next subscription.
    layer.broken = set()
    await subscribed(there, "other")
    here.notify(["run"])
    await remote.has(1)


async def test_receiving_goes_on_after_an_error(
    layer: Layer, caplog: pytest.LogCaptureFixture
) -> None:
    here, there = Notifier(), Notifier()
    remote = await subscribed(there, "run")
    async with asyncio.timeout(5):
        while not layer.calls["receive"]:
            await asyncio.sleep(0)
    layer.broken = {"receive"}
    here.notify(["run"])
    await remote.has(1)  # It was waiting already.
    async with asyncio.timeout(5):
        while "no receive today" not in caplog.text:
            await asyncio.sleep(0)
    layer.broken = set()
    here.notify(["run"])
    await remote.has(2)


async def test_a_channel_layer_that_hangs_keeps_nobody_waiting(
    layer: Layer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(notifications, "SEND_TIMEOUT", 0.01)
    layer.open.clear()
    notifier = Notifier()
    notifier.notify(["run"])
    await asyncio.wait_for(notifier.flush(), 5)
    assert "Notifying other processes of run failed" in caplog.text


async def test_messages_of_other_versions_are_ignored(layer: Layer) -> None:
    here, there = Notifier(), Notifier()
    remote = await subscribed(there, "run")
    await layer.group_send("run", {"type": "run.changed"})
    here.notify(["run"])
    await remote.has(1)
    assert remote.got == [None]


async def test_an_error_in_one_subscriber_is_its_own(caplog: pytest.LogCaptureFixture) -> None:
    notifier = Notifier()

    def fail(_: Flush | None) -> None:
        raise RuntimeError("a bug")

    await notifier.subscribe("run", fail)
    other = await subscribed(notifier, "run")
    notifier.notify(["run"], STORED)
    assert other.got == [STORED]
    assert "a bug" in caplog.text
