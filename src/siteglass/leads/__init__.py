"""What callers do with leads: search, pages, enrichment, interpretation, evidence, values."""
