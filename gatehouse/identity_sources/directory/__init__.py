"""LDAP and Active Directory. bonsai is imported by `connection.py` alone, when the first directory is opened."""
