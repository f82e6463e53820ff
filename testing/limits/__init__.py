"""Help for tests and benchmarks of rate limits: the definition to compare with, and a Redis that fails."""
