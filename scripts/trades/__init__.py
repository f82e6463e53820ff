"""Source tables of the trades, and how their words are inflected. `scripts/build_trades.py` compiles them."""
