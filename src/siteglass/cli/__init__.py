"""The `siteglass` command: one module per group of commands."""
