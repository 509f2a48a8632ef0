"""Bytes in, meaning out: what the protocols say, with no I/O, no clock and no Django.

Everybody may import this package; it imports the standard library only.

======================  ==========================================================
`calls`                 a `Call`: one HTTP request that is to be made
`frames`                a `Frame`: one thing that crossed the wire, and how frames are packed
`sse`                   server-sent events: split a byte stream into blocks, read a block
`events`                what frames mean: `Started`, `Result`, `Text`, `Failure`, ...
`problems`              why a run did not complete: stage, cause, fix
`places`                which events stand in a run's thread
`exchange`              the contract between a protocol, a binding and the engine
`jsontext`              JSON from elsewhere: how deep it is, and what it says
`http`, `replies`       the plain HTTP binding, and why its replies cannot be read
`nlweb`                 the NLWeb protocol, versions 0.54 and 0.55
`agent_api`             the Agent API: messages, and a response as messages and contents
`schemas`               JSON Schema files of every request, response and stream event
`registry`              which protocols and bindings there are
======================  ==========================================================
"""
