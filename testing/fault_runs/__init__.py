"""Requests while engines fail: what was asked and answered, and a verifier that judges it."""
