"""Lists of domains: named ones of an account, and the built-in lists `paid` and `downloaded`."""
