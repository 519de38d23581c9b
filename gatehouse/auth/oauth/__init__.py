"""The OpenID provider: other applications log their people in with the accounts here.

definitions.py       what an application is configured by
clients.py           applications: found, and authenticated at the token endpoint
client_secrets.py    what an application's secret looks like, and what is stored of it
redirect_uris.py     which addresses are an application's own
browser_sessions.py  the session of a browser at our pages, by a cookie
authorization_codes.py, grants.py   from a code to what an application was granted, and how that ends
session_ends.py, backchannel.py     what hangs on a session ends with it, and applications are told
"""
