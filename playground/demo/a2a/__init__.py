"""The demo agent for other agents: A2A 0.3 and 1.0, with a card and three skills.

=================  =====================================================================
`views`            `/demo/a2a` and the agent card
`card`             the agent card
`versions`         names of methods and states, and the form of objects, in each version
`message_handler`  a message to an answer or a task, and the events of a task
`skills`           the skills, and the plan that each makes of a request
`tasks`            tasks, their progress by the clock, and their storage
=================  =====================================================================
"""
