"""Engine: starts, drives and cancels runs; the only owner of background tasks.

Imported by views and management commands, which need `prepare`, `create_run`, `send` and `cancel`
most. What a caller needs is imported from this package; doctor, fetch, pictures,
retention and collection runs have modules of their own.
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
