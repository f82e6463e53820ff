"""Who must not be shown: the list in PostgreSQL, what a worker holds of it, and how a value leaves a record."""
