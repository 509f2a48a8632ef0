"""A2A agent made with a2a-sdk 0.3: a task with an artifact, a message, or a failure."""

import sys

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TextPart
from a2a.utils import new_agent_text_message, new_task

PORT, STREAMING = sys.argv[1], "streaming" in sys.argv


class Cook(AgentExecutor):
    async def execute(self, context, event_queue):
        text = context.get_user_input()
        if text == "hello":
            await event_queue.enqueue_event(new_agent_text_message("Hello from the kitchen."))
            return
        task = context.current_task or new_task(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        if text == "burn":
            await updater.failed(updater.new_agent_message([_text("It burnt.")]))
            return
        if text != "nothing":
            await updater.add_artifact([_text("Soup is served.")], name="soup")
        await updater.complete()

    async def cancel(self, context, event_queue):
        raise NotImplementedError


def _text(text):
    return Part(root=TextPart(text=text))


card = AgentCard(
    name="Cook",
    description="Cooks.",
    url=f"http://127.0.0.1:{PORT}/",
    version="1",
    capabilities=AgentCapabilities(streaming=STREAMING),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="cook", name="Cook", description="Cooks.", tags=[])],
)
handler = DefaultRequestHandler(Cook(), InMemoryTaskStore())
uvicorn.run(A2AStarletteApplication(card, handler).build(), port=int(PORT), log_level="error")
