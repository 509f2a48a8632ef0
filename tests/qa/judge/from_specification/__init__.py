"""The set that is written from the text of the protocols alone, without a look at the rules.

`replies` holds the examples, `grammar` the breaks, `nlweb`, `nlweb_bindings` and `agent_api` what
each text says.

Expectations that turned out to be wrong when the rules were first run. A finding of the rules was
the occasion for each, the text is the reason. Of the eight levels that changed, seven changed to
what the rules say, so that the rates from before and after differ for this too:

- 0.54, a promise without a token of type string, or that is no object: "should" -> "must". The
  MCP examples define await, with `promise_token` required and of type string.
- 0.54, an `item` of a result event that is no object, and data that is none: "should" -> "must".
  §8.4 lets the events deliver the results, and §4.1.1 calls these objects.
- 0.54, a failure with 400 whose body is no object: "must" -> "should", as for any 400: §4 says
  that a response should always be an object.
- A reply with 429 has a Retry-After now: §2.5 recommends it, so that without it none conforms.
- A reply of only the summary to "list, summarize" is gone: it does not give the list.
- A whole reply to a request for a stream: "" -> "should". §3.3: prefer says how the response
  should be delivered.
- `jsonrpc` in the other case is gone: "2.0" has none.
- Agent API, a call without contents, data or call_id is gone: its output was a second deviation.
  An output without contents or data is gone: §2 requires what it holds.
- Agent API, a stream without the response's created: "should" -> "must". The lifecycle is text and
  not only an example.
- Agent API, a message that is created and never completed: "must" -> "should". Only the examples
  show that messages are completed.
- Agent API, a response within another object: "should" -> "must". No response arrives.
- Agent API, two messages without msg_id: had other deviations. The heartbeat and the calls of a
  conforming stream begin with created now, which the state table calls the initial state.
"""

from collections.abc import Iterator

from tests.qa.judge.from_specification import agent_api, nlweb_bindings
from tests.qa.judge.mutants import Mutant


def mutants() -> Iterator[Mutant]:
    """Yield every mutant of the set."""
    yield from nlweb_bindings.mutants()
    yield from agent_api.mutants()
