"""Accounts: long-lived data. Users, roles, perms, departments, signing keys, audit trail.

One implementation in SQLAlchemy Core serves every SQL engine; none of it is on the hot path.
"""
