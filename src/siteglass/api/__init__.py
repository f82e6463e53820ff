"""The HTTP edge of /v1: read a request, call an operation, spell the answer."""
