"""The demo: made-up leads and web sites, and commands that run a service over them. The service never imports it."""
