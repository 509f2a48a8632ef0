"""The request of a run once more."""

from __future__ import annotations

from dataclasses import replace

from playground.engine.composing import Composition, Scope
from playground.engine.preparing import PreparationResult, prepare
from playground.engine.request import WithheldError
from playground.engine.ways import follow_up_request, kept_headers
from playground.models import Environment, Run


def repeated(run: Run) -> PreparationResult:
    """The request of a run once more, the same way.

    What the user composed with names in it is prepared anew, with what they stand for now; what
    a run carried on of another keeps what went with it. The run must have its agent; raises
    `WithheldError` as `follow_up_request`.
    """
    template = run.template or {}
    if "document" not in template:
        prepared = follow_up_request(run, run.request, kept_headers(run))
        provenance = replace(
            prepared.provenance,
            saved_request=run.saved_request,
            expectations=run.expectations or (),
        )
        return PreparationResult(replace(prepared, provenance=provenance))
    environment = Environment.objects.filter(owner=run.owner_id, slug=run.environment).first()
    if run.environment and environment is None:
        raise WithheldError(f"The environment “{run.environment}” is gone.")
    address = str(template.get("address") or "")
    composition = Composition(
        request=template["document"],
        headers=[(name, value) for name, value in template["headers"] if value],
        agent=None if address else run.agent,
        address=address,
        protocol=run.protocol,
        version=run.version,
        binding=run.binding,
        auth=template.get("auth") or {},
        saved=run.saved_request,
        expectations=template.get("expectations", run.expectations) or (),
    )
    return prepare(composition, Scope(environment), run.owner)
