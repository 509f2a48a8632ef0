"""Formats of other tools: imports to fixtures and plain values, and exports.

Built on the fixtures of `playground.collections`; nothing is stored here.

==================  ================================================================================
`curl`              parser of cURL commands: a pasted command as a request
`data_rows`         `name=value` lines, and CSV and JSON files with the rows of a collection run
`foreign_formats`   names of the formats that cannot be imported
`har_export`        export of a run as an HTTP archive
`har_import`        import of the requests of HTTP archives
`http_request`      conversion of any HTTP request to a request of the playground
`import_formats`    table of the formats that a collection can be imported from
`postman_export`    export of a collection as a Postman Collection
`postman_import`    import of Postman Collections as fixtures
`snippets`          code snippets of a call: cURL, httpx, fetch, JSON-RPC
==================  ================================================================================
"""
