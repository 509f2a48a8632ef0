"""Bytes in, meaning out: what the protocols say, with no I/O, no clock and no Django.

Everybody may import this package; it imports the standard library only.

======================  ==========================================================
`calls`                 a `Call`: one HTTP request that is to be made
`frames`                a `Frame`: one thing that crossed the wire, and how frames are packed
`sse`                   server-sent events: split a byte stream into blocks, read a block
`events`                what frames mean: `Started`, `Result`, `Text`, `Failure`, ...
`problems`              why a run did not complete: stage, cause, fix
`places`                which events stand in a run's thread
`kinds`                 the word for what an event is
`exchange`              the contract between a protocol, a binding and the engine
`jsontext`              JSON from elsewhere: how deep it is, and what it says
`json_pointer`          JSON Pointer: writing, reading and following one
`json_diff`             differences of two JSON values
`text`                  text that is shortened
`http`, `replies`       the plain HTTP binding, and why its replies cannot be read
`jsonrpc`, `rpc_codes`  what MCP and A2A have in common
`mcp`                   MCP, in both its generations: a binding of NLWeb, and calls of any tool
`a2a`                   A2A 0.3 and 1.0: cards, messages, tasks
`nlweb`                 the NLWeb protocol: 0.54, 0.55, and what the older server speaks
`agent_api`             the Agent API: messages, and a response as messages and contents
`actions`               what items offer to do, over HTTP, MCP and A2A
`origins`               the origin of a URL, which credentials follow
`addresses`             where an agent takes requests over either binding
`challenges`            what a refused caller is told to bring along
`doctor`                what answers at an address: the calls that find out, and what they say
`comparison`            what two replies do not have in common
`schemas`               JSON Schema files of every request, response and stream event
`registry`              which protocols and bindings there are
======================  ==========================================================
"""
