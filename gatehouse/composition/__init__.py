"""Builds every part from the settings: settings in, a running service out. To read in this order:

opened_stores.py  opens the databases
shared_parts.py   what all others are built from: stores, clock, audit trail, signing keys, limits, sessions
identity_parts.py   directories and providers, part of the shared ones: every check of a password may need them
factor_parts.py, login_parts.py, token_parts.py, management_parts.py, feed_parts.py   one area each, as a group
oauth_parts.py, sign_in_parts.py, application_parts.py   the OpenID provider: for all, for browsers, for applications
service.py        builds the groups, runs the background tasks, closes everything
"""

from gatehouse.composition.opened_stores import open_database, open_state
from gatehouse.composition.service import Service

__all__ = ["Service", "open_database", "open_state"]
