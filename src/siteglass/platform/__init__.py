"""What everything else stands on: engines, mail, logs, metrics, sealing. Knows nothing of leads."""
