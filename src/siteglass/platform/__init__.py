"""The foundation of everything else: engines, mail, logs, metrics, encryption. Knows nothing about leads."""
