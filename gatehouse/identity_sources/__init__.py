"""Where accounts come from, beside our own: directories (LDAP) and providers (OpenID).

What a source is configured by, what it says about a person, and the clients that ask it. Nothing here knows our users:
`auth/identity/` decides what follows from an answer. The clients are extras, imported when a source is opened.
"""
