"""Leads as records: the lead, its evidence, their files, domain names, and made-up leads for demos."""
