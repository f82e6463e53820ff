"""How well sentences are understood: labelled sets, a scorer, generated sentences and noise."""
