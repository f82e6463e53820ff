"""Money: credits, the ledger, receipts, kept responses and balance alerts."""
