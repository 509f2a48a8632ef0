"""A simulated world: the engine and the live view under schedules that are drawn from a seed.

Real are the driver, the transport with httpcore and h11, the writer, the notifications, the feeds,
the consumers of the websockets, Django's models and their SQL. Simulated are time, the threads, the
network to agents, the browsers and the channel layer. So one seed is one schedule, on any machine.

Outside of it are real threads (a function of a thread runs at once, at a moment that the schedule
draws), the database's own concurrency, processes (a second process is a second notifier, and one
that is killed an event loop that stops), Daphne, and procrastinate.
"""
