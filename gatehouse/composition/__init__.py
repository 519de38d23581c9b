"""Builds every part from the settings: settings in, a running service out. To read in this order:

stores.py        opens the databases
shared_parts.py  what all others are built from: stores, clock, audit trail, signing keys, limits, sessions
factors.py, login.py, tokens.py, management.py, feeds.py   the parts of one area each, as a group
service.py       builds the groups, runs the background tasks, closes everything
"""

from gatehouse.composition.service import Service
from gatehouse.composition.stores import open_database, open_state

__all__ = ["Service", "open_database", "open_state"]
