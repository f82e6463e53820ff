"""What the service costs: CPU, time and bytes of a request, against an older commit and against bare OpenSearch.

`against` is the whole comparison. `checkouts` starts both services, with `side` running inside each checkout. `mix`
draws the requests. `wire` and `recorder` turn them into the bytes that all sides receive, and check that these return
the same leads. `client` sends the bytes, `measure` takes the samples, `report` presents them. `regression` is the
small size that CI runs, in units of `yardstick`.
"""
