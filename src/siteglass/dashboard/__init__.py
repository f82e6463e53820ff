"""The HTML edge: the account dashboard. One module per page; the checks before every page are in guard.py."""
