"""What people ask about their own data: opt-out and access requests, and the proof of control."""
