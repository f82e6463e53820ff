"""What people who run the service do with accounts, money, reports and data: in the console, and over HTTP."""
