"""What `build_vocabulary.py` is made of: readers of the sources, one module per part, our own tables."""
