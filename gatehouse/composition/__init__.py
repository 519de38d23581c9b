"""Builds every part from the settings: settings in, a running service out.

stores.py   opens the databases
core.py     what every part of auth/ is built from: stores, clock, audit, signing keys, sessions, limits
factors.py, login.py, accounts.py, events.py   build the parts of auth/, one area each
service.py  holds all of them, runs the background tasks, closes everything
"""

from gatehouse.composition.service import Service, open_service
from gatehouse.composition.stores import open_database, open_state

__all__ = ["Service", "open_database", "open_service", "open_state"]
