"""Metrics of this process, in the text format of Prometheus. docs/operations.md has the table.

Every process has its own: a web process serves them at `/metrics`, other processes on a port of
their own, see `serve_metrics`. What happens for each flush or message increases a counter once, by
the number of frames and not for each of them. Gauges are read when the metrics are: see
`register_gauge`.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Callable, Iterable, Iterator

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    start_http_server,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from playground import __version__

logger = logging.getLogger(__name__)

# Each counter would have a second series with the time at which it was created.
disable_created_metrics()

#: All metrics of this process; not the default registry, which other packages may add to.
registry = CollectorRegistry()
ProcessCollector(registry=registry)
PlatformCollector(registry=registry)
GCCollector(registry=registry)
Info("playground_build", "Version of the playground", registry=registry).info(
    {"version": __version__}
)

#: Upper bounds of the buckets of delays, in seconds.
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

runs_in_progress = Gauge(
    "playground_runs_in_progress", "Runs that this process drives", registry=registry
)
_runs_ended = Counter(
    "playground_runs_ended", "Runs that have ended, by final state", ["state"], registry=registry
)
_limits_exceeded = Counter(
    "playground_limits_exceeded", "Runs that a limit has ended", ["limit"], registry=registry
)
stored_frames = Counter("playground_stored_frames", "Frames that were stored", registry=registry)
stored_events = Counter("playground_stored_events", "Events of stored frames", registry=registry)
stored_bytes = Counter(
    "playground_stored_bytes", "Bytes of stored frames, before packing", registry=registry
)
delivery = Histogram(
    "playground_delivery_seconds",
    "Time from the arrival of a frame to its hand-over to the WebSockets, for the oldest frame of"
    " each flush; runs that this process drives",
    buckets=_BUCKETS,
    registry=registry,
)
notified_delivery = Histogram(
    "playground_notified_delivery_seconds",
    "Time from a notification to the hand-over to the WebSockets; runs that this process does not"
    " drive",
    buckets=_BUCKETS,
    registry=registry,
)
database_retries = Counter(
    "playground_database_retries",
    "Attempts that were repeated because the database was unavailable",
    registry=registry,
)
database_wait = Counter(
    "playground_database_wait_seconds",
    "Time that operations have waited for an unavailable database",
    registry=registry,
)


def count_run(state: str, limit: str | None) -> None:
    _runs_ended.labels(state).inc()
    if limit:
        _limits_exceeded.labels(limit).inc()


class _CallbackGauge(Collector):
    """A gauge whose callback is called whenever the metrics are read."""

    def __init__(self, name: str, help: str, callback: Callable[[], float]) -> None:  # noqa: A002
        self._name, self._help, self._callback = name, help, callback

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Return the metric without a value, so that a second one with its name is refused."""
        return [GaugeMetricFamily(self._name, self._help)]

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Return the metric with its value: NaN if the callback fails, the others are unharmed."""
        try:
            found = self._callback()
        except Exception:
            logger.warning("Reading the gauge %s failed", self._name, exc_info=True)
            found = math.nan
        yield GaugeMetricFamily(self._name, self._help, value=found)


def register_gauge(name: str, help: str, callback: Callable[[], float]) -> None:  # noqa: A002
    """Add a gauge; `callback` is called whenever the metrics are read, from any thread.

    It may read the database, but not wait for an event loop. Raises `ValueError` if the name is
    taken.
    """
    registry.register(_CallbackGauge(name, help, callback))


def exposition(accept: str = "") -> tuple[bytes, str]:
    """Return the metrics and their content type, in a format that the header `accept` names.

    That is the text format of Prometheus unless the client prefers OpenMetrics.
    """
    encode, content_type = choose_encoder(accept)
    body: bytes = encode(registry)
    return body, content_type


@contextlib.contextmanager
def serve_metrics(port: int, host: str = "127.0.0.1") -> Iterator[int]:
    """Serve the metrics of this process at `/metrics` in the block; yields the port.

    For processes that serve no pages. A port of 0 is a free one. Raises `OSError` if it is in use.
    """
    server, thread = start_http_server(port, host, registry)
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
