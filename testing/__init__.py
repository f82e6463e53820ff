"""What the tests and the benchmarks share. It is not shipped, and imports neither of them."""
