"""`python -m siteglass_client.cli` is `sg`, also where another program has that name."""

from siteglass_client.cli import main

main()
