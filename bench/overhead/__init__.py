"""What the service adds to bare OpenSearch: CPU, time and bytes of a request, measured on both in one run.

`mix` draws the requests. `wire` and `recorder` turn them into the bytes that both sides receive, `world` builds the two
sides, and `client` sends the bytes. `measure` runs the rounds, and `report` writes table and plots. `regression` is the
small size that CI runs.
"""
