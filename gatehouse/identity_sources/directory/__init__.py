"""LDAP and Active Directory: `LdapDirectory` in `ldap_directory.py`.

python-ldap encodes and decodes; `link.py` opens the connections, with asyncio's sockets and TLS. It is an extra,
imported when the first directory is opened.
"""
