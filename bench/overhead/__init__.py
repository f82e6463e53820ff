"""What the service adds to bare OpenSearch: CPU, time and bytes of a request, measured on both in one run.

`mix` draws the requests, `wire` and `recorder` turn them into the bytes that both sides are sent, `world` builds what
they are sent to, `client` sends them, `measure` runs the rounds, `report` writes table and plots. `regression` is the
small size that CI runs.
"""
