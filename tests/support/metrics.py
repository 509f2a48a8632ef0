"""Values of the metrics of this process, and how they grow during a test."""

from __future__ import annotations

from typing import Any

from playground.base import metrics


def value(name: str, **labels: str) -> float:
    return metrics.registry.get_sample_value(name, labels) or 0.0


class Growth:
    """How much metrics have grown since the start of a test."""

    def __init__(self) -> None:
        self._before = self._samples()

    def _samples(self) -> dict[Any, float]:
        return {
            (sample.name, *sample.labels.items()): sample.value
            for family in metrics.registry.collect()
            for sample in family.samples
        }

    def of(self, name: str, **labels: str) -> float:
        key = (name, *labels.items())
        return self._samples().get(key, 0.0) - self._before.get(key, 0.0)
