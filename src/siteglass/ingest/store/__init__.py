"""The facts store: what all crawls say of every page of every domain. Runs add to it, and leads are made of it."""
