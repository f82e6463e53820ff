"""PostgreSQL: who calls, and what they may spend."""
