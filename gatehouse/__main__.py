"""`python -m gatehouse` is `gatehouse`."""

from gatehouse.cli import main

main()
