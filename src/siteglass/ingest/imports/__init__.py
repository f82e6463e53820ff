"""Tables of companies that people have, as leads: `siteglass index import`."""
