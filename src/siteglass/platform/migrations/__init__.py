"""The tables, step by step: plain SQL, additive only, every name qualified by `{schema}`."""
