"""Measurements of how sentences are interpreted. The sentences themselves are in `testing.sentences`."""
