"""The demo agent over the Agent API: one endpoint, with responses that grow.

=================  =========================================================================
`views`            `POST /demo/agent-api`
`requests`         parser of requests
`request_context`  a request with its session, the corpus and the writer of the response
`handlers`         table of texts with a handler of their own; search by default
`tool_calls`       calls of the caller's functions, and approvals
`search`           matches for a question, with a summary and an image
`writer`           `ResponseWriter`, the objects of a response in the order of its lifecycle
`malformed`        responses that break the protocol on purpose
=================  =========================================================================
"""
