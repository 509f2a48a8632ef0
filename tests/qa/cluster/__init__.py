"""A playground of several processes, and its parts: `make cluster`.

| module | contents |
|---|---|
| `__main__` | `make cluster`: a cluster for trying, with the logs of its parts |
| `processes` | the cluster: PostgreSQL, Redis, nginx, web processes and workers |
| `upgrade` | two versions of the playground side by side on one database |
"""
