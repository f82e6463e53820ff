"""Records what the service responds to some 2,000 requests, and compares other code with that recording."""
