"""`python -m siteglass_client.cli` is `sgl`, also where its folder is not on the PATH."""

from siteglass_client.cli import main

main()
