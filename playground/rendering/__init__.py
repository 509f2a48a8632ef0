"""Rendering: frames to events to HTML.

Used by pages, live updates and later fetches alike, so that they cannot differ. Unknown data is
shown raw, and nothing here raises on data of agents. Imported by views, consumers, management
commands and `playground.cli`.

======================  ===============================================================
`action_buttons`        buttons for the actions of results
`action_runs`           actions that were run, below the card that offers them
`annotations`           annotated exchange: the frames of a run with the meaning of every part
`card_types`            facts and lists of result items, by schema.org type
`cards`                 result cards and nested items
`collection_run_updates` live updates of collection runs
`collection_runs`       collection runs: page, list and report
`comparison`            comparison of two runs: facts, requests and responses
`conformance`           conformance reports: rules by level with their findings
`doctor`                reports of the connection doctor
`effective_request`     effective request with masked secrets
`elicitation`           elicitations as forms
`elements`              table of elements: a row for each kind of event
`entries`               entries of a thread, and what an element is
`entry_runs`            child runs by entry
`events`                Events tab: frames as rows
`expectations`          checks of a run as rows
`explanations`          explanations of names, and references of documents to their schemas
`formatting`            JSON values, durations, sizes and counts as text
`grounding`             sources of a result
`history`               rows of the history
`error_card`            error of a run: cause, the button that helps, details
`import_preview`        changes of an import in groups
`json_spans`            positions of JSON pointers in the text of a document
`lessons`               lessons with their progress, and the pane beside the workbench
`linked_turns`          label, answers and status of a linked turn
`links`                 URLs from agents that may become links
`live`                  the response pane, and live updates of runs and collection runs
`markdown`              Markdown as sanitised HTML
`media`                 pictures, sounds and files in responses, as pages and text show them
`message_joiner`        events of the Agent API joined into messages
`message_updates`       out-of-band updates of messages on a page
`messages`              views of Agent API messages, their parts, calls and outputs
`notes`                 text, failures, metadata, tools and unknown events as entries
`outline`               folders and requests of a collection, a page at a time
`pending_tool_calls`    tool calls that a response leaves to its client
`pictures`              pictures that agents name, loaded by the playground on request
`progress`              progress of a call as percent and text
`promises`              polled promises: status, times, polls and sparkline
`reference`             pages of the reference: attributes, changes of versions, rules
`results`               results as entries: cards, media, summaries and plain data
`rules`                 pages of rules: requirements and example responses with their findings
`run_status`            status, metrics, version and binding of a run as text
`search`                search in collections
`sequence`              sequence diagram of a conversation, as SVG, list and Mermaid
`server_log`            log lines of a server
`session_history`       session context sent and received, turn by turn
`shares`                shared runs and collections, with credentials masked
`sidebar`               tree of collections in the sidebar
`thread`                entries of a run as HTML, with their child runs
`thread_reader`         frames of a run as entries and messages
`timeline`              phases, arrivals, silences and child runs on a time axis
`tool_calls`            forms of pending tool calls
`tools`                 tools over MCP, on the page of an agent
`transcript`            transcript of a conversation: turns before, beside and after a run
`twins`                 side-by-side runs: titles and differences
`wire`                  Wire tab: frames as blocks of bytes
======================  ===============================================================
"""
