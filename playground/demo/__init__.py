"""The built-in agent: a conformant NLWeb agent over a small corpus, and scripted misbehaviour.

Only the root URLs reference this package, and it imports nothing from the playground, which
therefore reaches it over the network, like any other agent.

==============  ========================================================================
`apps`          the app configuration
`urls`          URLs below `/demo/`
`wellknown`     URLs at the root of the site
`views`         NLWeb over HTTP (section 7.1), the scenarios, the demo page
`http`          JSON responses, event streams, and the decorator of all endpoints
`requests`      parser of `ask` and `await` requests
`service`       the agent behind every protocol: a request document in, a response out
`decide`        choice of the response: elicitation, promise, search or failure
`responses`     responses as data and as JSON documents (section 4)
`failures`      failure codes with status, message and a way to trigger each, by version
`search`        filtering, scoring and ranking of the corpus
`filters`       filter attributes of a query (section 3.1)
`query_parser`  search terms and constraints in the text of a query
`followups`     completion of a follow-up from `context.prev` (section 3.2)
`corpus`        the corpus in memory
`index`         full-text index of the corpus
`languages`     languages of the agent's own texts, and their translations
`items`         result items, summaries and other sentences
`actions`       actions of result items (section 5)
`lists`         the cart and the cookbook, which actions change
`elicitation`   questions, when they are asked, and how answers are read (section 4.1.3)
`promises`      promised tasks, their progress and their rows (section 4.1.2)
`meal_plans`    meal plans with shopping lists, the answers of promised tasks
`menus`         menus for an occasion or a dinner party
`tutorial`      a recipe step by step, the `detailed` mode of 0.54
`jsonrpc`       JSON-RPC 2.0 for MCP and A2A
`state_store`   state of protocols between two requests
`models`        the corpus and everything that is stored
`examples`      example requests on the demo page
`guides`        MCP, the Agent API and A2A on the demo page
`mcp`           the agent as an MCP server
`a2a`           the agent as an A2A agent
`agent_api`     the agent over the Agent API
`scenarios`     scripted agents
`migrations`    migrations of the app
==============  ========================================================================
"""
