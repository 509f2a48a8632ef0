"""NLWeb Playground: compose a request to an agent, send it, watch the answer arrive.

======================  =======================================================================
`__main__`              command line of the installed package and of manage.py
`admission`             refusal of requests without a host, and of large bodies without a session
`apps`                  app configuration: registers checks, restricts files, repairs the search
`asgi`                  ASGI application, WebSocket routes and the check of their origin
`broadcast`             updates of a run, rendered once for all of its viewers
`checks`                Django system checks of the settings
`cli`                   what the commands share: arguments, dialogue, output
`collections`           collections as fixtures: import, export, trash, order, disk
`conformance`           rules of the specifications, checked against a response
`consumers`             WebSocket consumers of runs and collection runs
`context_processors`    variables of every template
`counters`              counts of a run's frames and events, stored with the run
`database_timeout`      timeout of a request for the threads of the database
`demo`                  demo agent with misbehaving scenarios
`elicitation`           questions of agents as forms, and answers as requests
`encryption`            key files: creation and rotation
`engine`                preparation, sending and polling; background tasks
`executors`             threads for the database
`expectations`          assertions about a response, and JSONPath
`follow_ups`            the next request of a conversation
`formats`               cURL, HAR, Postman, code snippets: import and export
`forms`                 Django forms of all pages
`graceful_stop`         stop of the server: runs end, viewers are told to come back
`installation`          checkout or installed package: folders of files and data
`json_input`            parsers of JSON documents and headers that a user writes
`lesson_progress`       the open lesson of a learner, and the runs that its checks are about
`lessons`               steps of lessons and their checks
`limits`                limits of a run and their environment variables
`logs`                  log lines as text or JSON, with the id of a run
`management`            commands of `nlweb-playground` and `manage.py`
`memory_budget`         what all runs may have received and not stored
`metrics`               metrics of the process, for Prometheus
`middleware`            headers of every response: caching, browser features
`migrations`            migrations of the database
`models`                models and their queries
`notifications`         notifications that something was stored, in and between processes
`page_budget`           the text that may be rendered for a page
`private_files`         files that only their owner may read: database and keys
`processes`             names of processes, and whether one exists
`protocols`             NLWeb, Agent API, MCP and A2A: requests and responses, without I/O
`pytest_plugin`         pytest plugin that runs collections, for other projects
`query_params`          integers in query strings and form fields
`rendering`             responses as HTML
`reporting`             results of a collection run as text, JSON, JUnit and HTML
`servers`               Daphne and uvicorn, configured for the playground
`settings`              Django settings, read from the environment
`startup`               migrations, shipped fixtures and static files at the start
`stored_runs`           events, facts and conformance of stored frames
`task_registry`         background tasks by key: strong references, errors logged
`templatetags`          template tags and filters
`tracing`               traces of runs: `traceparent` headers, spans for OpenTelemetry
`transport`             HTTP: outbound policy, limits, redaction, recorder
`twin_targets`          other targets of a request, for a comparison
`urls`                  URLs of all pages
`variables`             substitution of names in requests
`views`                 views of all pages
======================  =======================================================================
"""

__version__ = "0.2.0"
