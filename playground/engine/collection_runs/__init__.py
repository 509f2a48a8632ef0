"""Collection runs: the requests of a collection, sent in order, and what was met.

**Order.** The unit of work is an *iteration*: its requests are sent one after another, in the
order of the collection. `Options.parallel` says how many units go on at the same time. Where
no request of the collection captures anything, no folder can depend on another one, and the
folders of an iteration are units of their own.

**What is carried** from one request of a unit to those after it:

- Captured values. They win over the row of the data file, that one over `Options.variables`,
  those over the environment.
- The session context: within a folder, a request to the address that an earlier one went to
  goes on with the conversation, if the agent has returned a session context and the request's
  document has none of its own. An empty one of its own (`"session_context": {}`) opts out.

**A step** is an ordinary run. One without expectations is expected to complete. Questions and
promises of the agent are outcomes: nothing is answered and nothing followed; a question that
an MCP server waits with is cancelled, because nobody is there. A capture that finds nothing is
not met either.

=============  ==============================================================================
`planning`     which requests are sent, in which units; the rows of the run and its steps
`carrying`     what one request leaves for those after it
`sending`      one step: prepared, recorded, sent
`judging`      what came back for it: whether that is what was expected, what is captured
`book`         the rows of the steps, kept up to date sparingly
`running`      all of it, with Stop
=============  ==============================================================================
"""

from playground.engine.collection_runs.plan import (
    MAX_PARALLEL,
    MAX_STEPS,
    CollectionRunOptions,
    CollectionRunPlan,
    PlanError,
    PlannedStep,
    check_run_limit,
    plan_run,
    record,
)
from playground.engine.collection_runs.runner import cancel, start, stop

__all__ = [
    "MAX_PARALLEL",
    "MAX_STEPS",
    "CollectionRunOptions",
    "CollectionRunPlan",
    "PlanError",
    "PlannedStep",
    "cancel",
    "check_run_limit",
    "plan_run",
    "record",
    "start",
    "stop",
]
