"""One capture in, its facts out: one module per fact, pure, without an engine. `facts_of` puts them together."""
