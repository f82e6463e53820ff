"""Help for tests and benchmarks of the dashboard: accounts with people, visitors, and long histories."""
