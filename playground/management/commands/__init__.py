"""Management commands, which share `playground.cli`.

=====================  =============================================================================
`doctor`               examines the connection to an agent, step by step
`export_collection`    writes a collection as a fixture
`import_collection`    imports a collection from a file
`prune_history`        deletes the runs beyond the limits of the history
`rotate_key`           encrypts the stored secrets with a new key
`run_collection`       runs the requests of a collection, and reports
`send`                 sends a request to an agent, and prints what comes back
`serve`                serves the playground with Daphne or uvicorn
`twin`                 sends one request two ways, and compares the replies
`worker`               drives the runs that web processes have queued
=====================  =============================================================================
"""
