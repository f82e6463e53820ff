"""The HTML edge: the account dashboard. One module per page; what stands before every page is in guard.py."""
