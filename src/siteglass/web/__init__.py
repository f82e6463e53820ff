"""The HTTP toolkit: the guard before every operation, reading requests, rendering responses and errors."""
