"""Pages and fragments, one module per resource; a custom verb is a resource of its own.

Imported by `playground.urls` only.

======================  ==========================================================
`action_panel`          state of the action panel: action, fields, server, call
`actions`               the action panel's views: show, preview, load, run
`agents`                agents and their MCP tools
`annotated_exchange`    annotated exchange of a run, and its exports
`calls`                 a call exactly as it would be sent
`collection_runs`       collection runs: form, page, cancellation, reports
`collections`           collections: list, page, details, position
`comparisons`           comparison of any two runs
`composer`              fields, preparation and preview of the composer
`conformance`           conformance reports and the list of rules
`deep_links`            URLs of the workbench that fill in a request
`disk`                  the file of a collection in fixtures/
`doctor`                connection diagnosis of an agent
`elicitation`           answers to an agent's elicitations
`environments`          environments, their variables, and the active one
`errors`                error pages for exceptions that no view has handled
`expectations`          expectations of a run, and their editor
`explanations`          the explanation of one name, for the popover
`folders`               folders of a collection
`helpers`               objects of the user, contexts and responses for many views
`history`               the page of the history
`history_filters`       filters of the history in the query string
`import_export`         import and export of collections
`lesson_editor`         steps of a lesson, edited by a teacher
`lessons`               lessons: list, page, pane beside the workbench, checks
`login`                 the log-in of a hosted playground
`media`                 pictures, sounds and files of responses, saved as files
`metrics`               metrics of this process, for Prometheus
`pictures`              pictures that agents name, from the origin of the playground
`promises`              polling and cancelling promises
`readiness`             whether this process can serve requests
`recordings`            saved responses, and runs as HAR files
`reference`             the reference of the protocols, from their schemas
`retention`             limits of the history, and deleting beyond them
`run_deletion`          deletion of selected runs
`run_tabs`              Results, Events, Timeline and Wire tabs of a run
`runs`                  list, send, repeat and cancel runs
`saved_requests`        saved requests: save, open, edit, move
`sequence`              sequence diagram of a conversation, as tab, SVG and Mermaid
`sending`               start of a recorded run, preparation of what follows a turn
`server_log`            the server log of a run
`session`               session history and session context of a branch
`shares`                links to a run or a collection
`sidebar`               collections in the sidebar, and search
`snippets`              code of other tools, and cURL commands
`tool_calls`            tool calls of the Agent API, and their answers
`trash`                 deletion of parts of collections, and restoring them
`turns`                 follow-ups of a conversation
`twins`                 one request sent to two targets, side by side
`workbench`             the page with composer and response
======================  ==========================================================
"""
