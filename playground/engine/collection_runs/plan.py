"""Plan of a collection run: its options, units and steps, and their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import prefetch_related_objects

from playground.engine.runs import check_accepting_runs, refuses_new_runs
from playground.models import (
    Agent,
    Collection,
    CollectionRun,
    Environment,
    LimitError,
    SavedRequest,
    Step,
)
from playground.models.collection_runs import end_interrupted
from playground.models.columns import storable
from playground.models.driving import driver_columns, mark_interrupted
from playground.models.rows import owner_of
from playground.models.storage import check_rows, no_room_and_fix

#: Requests of one run, all iterations together; iterations at once.
MAX_STEPS, MAX_PARALLEL = 20_000, 50
#: Collection runs of one user at once. Their requests share the concurrency limit anyway; more of
#: them would only wait, each with its thousands of rows.
MAX_AT_ONCE = 5


class PlanError(ValueError):
    """A collection run, or a step of one, that cannot be made; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class CollectionRunOptions:
    """The options of a collection run."""

    #: Overrides the agent of every request with its protocol.
    agent: Agent | None = None
    environment: Environment | None = None
    #: Take precedence over the environment.
    variables: Mapping[str, Any] = field(default_factory=dict)
    #: A row for each iteration, used in turn; they take precedence over `variables`.
    rows: Sequence[Mapping[str, Any]] = ()
    #: None for one iteration per row, or one without rows.
    iterations: int | None = None
    #: Units in progress at once: see the package.
    parallel: int = 1
    #: Whether no step is started after one that failed.
    bail: bool = False

    @property
    def iteration_count(self) -> int:
        return self.iterations or len(self.rows) or 1

    def row(self, iteration: int) -> Mapping[str, Any]:
        """Return the row of an iteration, counted from 1."""
        return self.rows[(iteration - 1) % len(self.rows)] if self.rows else {}

    def to_json(self) -> dict[str, Any]:
        """Return the options that are shown; values of variables may be secret and are omitted."""
        return {
            "agent": (self.agent.slug or self.agent.url) if self.agent else "",
            "iterations": self.iteration_count,
            "parallel": self.parallel,
            "bail": self.bail,
            "rows": len(self.rows),
            "variables": sorted(self.variables),
        }


@dataclass(slots=True)
class PlannedStep:
    """A request in an iteration, and its row."""

    saved: SavedRequest
    step: Step


#: Requests that are sent one after another.
Unit = list[PlannedStep]


@dataclass(frozen=True, slots=True)
class CollectionRunPlan:
    """The units of a collection run."""

    name: str
    options: CollectionRunOptions
    units: list[Unit]
    owner: User | None = None
    #: None for a run from a file.
    collection: Collection | None = None

    @property
    def steps(self) -> list[Step]:
        return [planned.step for unit in self.units for planned in unit]


def plan_run(
    name: str,
    requests: Sequence[SavedRequest],
    options: CollectionRunOptions,
    owner: User | None = None,
    collection: Collection | None = None,
) -> CollectionRunPlan:
    """Return the plan of a run of `requests`, which are in order. Uses no database.

    Raises `PlanError` for no requests, or too many.
    """
    count = len(requests) * options.iteration_count
    if not count:
        raise PlanError("No requests to send.")
    if count > MAX_STEPS:
        raise PlanError(f"Too many requests: {count:,}. The limit is {MAX_STEPS:,}.")
    units: list[Unit] = []
    number = 0
    for iteration in range(1, options.iteration_count + 1):
        for group in _groups(requests):
            unit: Unit = []
            for saved in group:
                number += 1
                step = Step(
                    number=number,
                    iteration=iteration,
                    saved_request=saved if saved.pk else None,
                    # A file may hold characters that no database accepts.
                    folder=storable(saved.folder.name) if saved.folder else "",
                    name=storable(saved.name),
                )
                unit.append(PlannedStep(saved, step))
            units.append(unit)
    return CollectionRunPlan(name, options, units, owner, collection)


def _groups(requests: Sequence[SavedRequest]) -> list[list[SavedRequest]]:
    """Return the units of one iteration: one per folder where nothing is captured."""
    if any(saved.captures for saved in requests):
        return [list(requests)]
    found: dict[str, list[SavedRequest]] = {}
    for saved in requests:
        found.setdefault(folder_of(saved), []).append(saved)
    return list(found.values())


def folder_of(saved: SavedRequest) -> str:
    """Return the slug of a request's folder, "" without one."""
    return saved.folder.slug if saved.folder else ""


def check_run_limit(user: User | AnonymousUser) -> None:
    """Raise `PlanError` if `user` may not start another collection run.

    That is so without room for its steps, and at the limit of unfinished ones.
    """
    owner = owner_of(user)
    if problem := no_room_and_fix(owner.pk if owner else None):
        raise PlanError(problem)
    unfinished = CollectionRun.objects.owned_by(user).unfinished()
    if unfinished.count() < MAX_AT_ONCE:
        return
    mark_interrupted()
    if unfinished.count() >= MAX_AT_ONCE:
        raise PlanError(
            f"Too many collection runs in progress ({MAX_AT_ONCE}). Wait for one to finish, "
            "or stop one."
        )


def record(planned: CollectionRunPlan) -> CollectionRun:
    """Store the collection run and its steps, all of them waiting.

    Raises `ShuttingDownError` if the process shuts down, and `PlanError` where they exceed a limit.
    If the shutdown begins meanwhile, the collection run is recorded as interrupted.
    """
    check_accepting_runs()
    options = planned.options
    run = CollectionRun(
        owner=planned.owner,
        collection=planned.collection,
        name=storable(planned.name),
        environment=options.environment.name if options.environment else "",
        options=options.to_json(),
        **driver_columns(),
    )
    steps = planned.steps
    run.planned = len(steps)
    for step in steps:
        step.collection_run = run
    if options.environment is not None:
        # Read once, and not for every request.
        prefetch_related_objects([options.environment], "variables")
    try:
        with transaction.atomic():
            run.save()
            check_rows(steps, added=len(steps))
            Step.objects.bulk_create(steps, batch_size=500)
    except LimitError as error:
        raise PlanError(str(error)) from error
    # Again: the process may end before this one is started.
    if refuses_new_runs():
        end_interrupted(CollectionRun.objects.filter(pk=run.pk))
    return run


def plan_to_json(planned: CollectionRunPlan) -> dict[str, Any]:
    """Return what a worker needs to drive a recorded plan, as JSON. It may hold secrets."""
    options = planned.options
    agent = options.agent
    is_saved = agent is not None and agent.pk
    columns = ("pk",) if is_saved else ("name", "url", "protocol", "binding", "version")
    return {
        "options": {
            "agent": agent and {name: getattr(agent, name) for name in columns},
            "environment": options.environment and options.environment.pk,
            "variables": dict(options.variables),
            "rows": [dict(row) for row in options.rows],
            "iterations": options.iterations,
            "parallel": options.parallel,
            "bail": options.bail,
        },
        # Numbers of steps, with the keys of their requests.
        "units": [[(each.step.number, each.saved.pk) for each in unit] for unit in planned.units],
    }


def plan_from_json(run: CollectionRun, value: Mapping[str, Any]) -> CollectionRunPlan:
    """Return the plan of a recorded collection run from the JSON of `plan_to_json`.

    The steps of requests that were deleted meanwhile end as not sent. Raises `PlanError` if the
    agent or the environment was deleted.
    """
    given = dict(value["options"])
    agent, environment = given["agent"], given["environment"]
    if agent is not None:
        key = agent.get("pk")
        given["agent"] = _stored_agent(key) if key else Agent(owner=run.owner, **agent)
    if environment is not None:
        given["environment"] = _stored_environment(environment)
    keys = {key for unit in value["units"] for _, key in unit}
    saved = SavedRequest.objects.select_related("folder", "collection").in_bulk(keys)
    steps = {step.number: step for step in run.steps.all()}
    units: list[Unit] = [
        [PlannedStep(saved[key], steps[number]) for number, key in unit if key in saved]
        for unit in value["units"]
    ]
    deleted = [number for unit in value["units"] for number, key in unit if key not in saved]
    if deleted:
        unsent = {"verdict": Step.Verdict.UNSENT, "reason": "The request was deleted."}
        run.steps.filter(number__in=deleted).update(**unsent)
    return CollectionRunPlan(
        run.name, CollectionRunOptions(**given), units, run.owner, run.collection
    )


def _stored_agent(key: int, name: str = "") -> Agent:
    agent: Agent | None = Agent.objects.filter(pk=key).first()
    if agent is None:
        raise PlanError(f"The agent{name} was deleted.")
    return agent


def _stored_environment(key: int, name: str = "") -> Environment:
    """Return an environment with its variables, as they are now."""
    stored = Environment.objects.filter(pk=key).prefetch_related("variables")
    environment: Environment | None = stored.first()
    if environment is None:
        raise PlanError(f"The environment{name} was deleted.")
    return environment


def reload_options(options: CollectionRunOptions) -> CollectionRunOptions:
    """Return the options with their agent and environment read again.

    Raises `PlanError` where one of them was deleted.
    """
    agent, environment = options.agent, options.environment
    if agent is not None and agent.pk:
        agent = _stored_agent(agent.pk, f" “{agent.name}”")
    if environment is not None:
        environment = _stored_environment(environment.pk, f" “{environment.name}”")
    return replace(options, agent=agent, environment=environment)
