"""The parts of scripts/check_english.py: the texts people read, and the rules they are checked by."""
