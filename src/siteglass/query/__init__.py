"""What the caller asks: fields, criteria, filters, directives, cursor. Pure: no engine, no network, no clock."""
