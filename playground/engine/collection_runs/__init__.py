"""Collection runs: sends the requests of a collection in order and evaluates the responses.

**Order.** The unit of work is an *iteration*: its requests are sent one after another, in the
order of the collection. `CollectionRunOptions.parallel` is the number of units that run at the same
time. Where no request of the collection captures anything, no folder can depend on another one, and
the folders of an iteration are separate units.

**State of an iteration**, from one request of a unit to the later ones:

- Captured values. They take precedence over the row of the data file, that one over
  `CollectionRunOptions.variables`, those over the environment.
- The session context: within a folder, a request to the URL of an earlier one continues its
  conversation, if the agent has returned a session context and the request's document has none.
  An empty one (`"session_context": {}`) opts out.

**A step** is an ordinary run. Without expectations it is expected to complete. Questions and
promises of the agent are outcomes: none is answered and none polled; a question for which an MCP
server waits is cancelled. A capture that finds nothing fails the step.

**Connections** are kept for later steps of the run, until its end: see `ConnectionPool`.
"""
