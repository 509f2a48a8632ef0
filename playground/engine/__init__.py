"""Engine: starts, drives and cancels runs; the only owner of background tasks.

Imported by views and management commands, which need `prepare`, `create_run`, `send` and `cancel`
most. What a caller needs is imported from this package; doctor, fetch, pictures,
retention and collection runs have modules of their own.

=====================  ========================================================================
`background`           the background tasks of a server and of a worker
`call_loop`            the loop exchange → transport → frames, for everything that is sent
`collection_runs`      runs of a collection: plan, units, steps and their evaluation
`concurrency`          the concurrency limit of one user, and the queue for a slot
`doctor`               the connection doctor: calls of a diagnosis, and its stored report
`driver`               the driver of one run: calls, frames, final state
`fetch`                download of a file by GET, for imports from a URL
`heartbeat`            heartbeats of runs, stop requests of other processes, liveness checks
`jobs`                 work in the background, done by this process or by workers
`mcp_sessions`         MCP sessions of conversations, and their end
`pictures`             download of a picture that an agent names
`preparation`          from a request template and variables to a prepared request
`promise_polling`      await requests, leases, cancellation, recovery, the background poller
`promises`             poll intervals, and what the response to a poll changes
`request`              the prepared request: as it is stored, and as it is sent
`retention`            retention limits, run trees, pruning and deletion of runs
`runs`                 the record of a new run: conversation, parent, concurrency limit
`secrets`              where a secret may be sent, and its substitution
`server_probe`         a few calls to a server, for its tools or agent card; nothing is stored
`shutdown`             end of the process: no new runs, time for those in progress
`states`               the states of a run and their transitions
`tasks`                the tasks of runs: send, stop, cancel
`work_queue`           queue of runs for workers, with their encrypted requests
`worker`               the worker: takes jobs, and starts again after an outage of the database
`writer`               frames in batches, retries of the database, notification of viewers
=====================  ========================================================================
"""

from playground.engine.background import start_background_tasks
from playground.engine.mcp_sessions import end_sessions_of
from playground.engine.preparation import (
    RequestTemplate,
    VariableScope,
    agent_url_over,
    follow_up_request,
    prepare,
    prepare_follow_up,
    repeat_request,
    request_over_binding,
    stored_headers,
    switched_request,
)
from playground.engine.promise_polling import (
    cancel_promise,
    poll_now,
    poll_until_settled,
    resume_polling,
    stop_polling,
)
from playground.engine.request import (
    Headers,
    PreparedRequest,
    action_request,
    refused,
    request_to,
)
from playground.engine.runs import (
    RunParent,
    ShuttingDownError,
    create_run,
    refuses_new_runs,
)
from playground.engine.secrets import SecretNotAllowedError
from playground.engine.server_probe import probe
from playground.engine.tasks import cancel, send, send_here, stop, stop_all

__all__ = [
    "Headers",
    "PreparedRequest",
    "RequestTemplate",
    "RunParent",
    "SecretNotAllowedError",
    "ShuttingDownError",
    "VariableScope",
    "action_request",
    "agent_url_over",
    "cancel",
    "cancel_promise",
    "create_run",
    "end_sessions_of",
    "follow_up_request",
    "poll_now",
    "poll_until_settled",
    "prepare",
    "prepare_follow_up",
    "probe",
    "refused",
    "refuses_new_runs",
    "repeat_request",
    "request_over_binding",
    "request_to",
    "resume_polling",
    "send",
    "send_here",
    "start_background_tasks",
    "stop",
    "stop_all",
    "stop_polling",
    "stored_headers",
    "switched_request",
]
