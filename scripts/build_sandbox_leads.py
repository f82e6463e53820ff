"""Writes the made-up leads of test keys, which the service ships: `make sandbox-leads`."""

from __future__ import annotations

from siteglass.corpus.lead_files import write_parquet
from siteglass.leads.sandbox import GENERATED
from siteglass_demo.sandbox_leads import sandbox_leads

if __name__ == "__main__":
    print(f"{write_parquet(GENERATED, sandbox_leads()):,} leads in {GENERATED}")
