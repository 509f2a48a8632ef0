"""Protocols: what requests and responses mean, with no I/O, no clock and no Django.

Every other package may import this one; it imports the standard library only.

================  ================================================================
`a2a`             A2A 0.3 and 1.0: agent cards, messages, tasks
`actions`         actions of result items, over HTTP, MCP and A2A
`agent_api`       the Agent API: messages, and responses of messages and contents
`annotations`     meanings of every part of the frames of a run
`calls`           `HttpCall`: one HTTP request, not yet made
`challenges`      the `WWW-Authenticate` header as advice
`deep_links`      URLs that open the workbench with a request
`diff`            differences of two responses, and of two JSON values
`doctor`          diagnosis of an agent's URL: which protocol answers, and how
`error_documents`  errors of any shape: their code, text and details
`events`          events: `Started`, `Result`, `Text`, `Failure`, …
`exchange`        the contract between a protocol, a binding and the engine
`explanations`    meanings of the names of a protocol, from its schemas
`frames`          `Frame`: one thing that crossed the wire; its binary form
`headers`         request headers: which can be sent, which are credentials
`http`            the HTTP binding: one POST, a document or a stream
`json_decoder`    decoder for JSON from agents, with a depth check
`json_errors`     errors in JSON text, as descriptions and positions
`json_members`    positions of the members of a JSON text, also of an incomplete one
`json_pointer`    JSON Pointer (RFC 6901)
`jsonrpc`         JSON-RPC 2.0: messages and error codes, for MCP and A2A
`mcp`             MCP, stateful and stateless: NLWeb over MCP, and calls of any tool
`media`           pictures, sounds and files in responses: their types and data
`nlweb`           the NLWeb protocol: 0.54, 0.55, and the legacy server
`origins`         origins of URLs, and an agent's URL over the other binding
`placement`       placement of events: entry, pinned, aside or none
`problems`        `Problem`: why a run did not complete; `CodeExplanation` of an error code
`raw`             raw requests: any method, path, content type and body over HTTP
`reference`       every attribute of every document of a protocol, from its schemas
`reference_changes`  changes between two versions of a protocol, from their references
`reference_examples`  example requests that use an attribute
`registry`        tables of protocols and bindings
`schemas`         JSON Schema files of every request, response and stream event
`sse`             parser for server-sent events
`text`            shortening of text
`trace_context`   the `traceparent` header (W3C Trace Context)
`unreadable`      unreadable HTTP responses: descriptions, causes, fixes
================  ================================================================
"""
