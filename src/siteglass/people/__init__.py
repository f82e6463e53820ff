"""People who sign in to the dashboard, in PostgreSQL: who they are, what proves it, where they are signed in."""
