"""The OpenID provider: other applications log their people in with the accounts here.

definitions.py       what an application is configured by
clients.py           applications, found by their name
client_authentication.py, client_secrets.py   how an application shows that it is the one it says
authorization_requests.py   what an application may ask for
authorization_decision.py, authorization.py   what becomes of a request in this browser, and its code
redirect_uris.py     which addresses are an application's own
browser_sessions.py, form_tokens.py   the session of a browser at our pages, by a cookie; the tokens of its forms
kept_flows.py, console_entry.py     through a provider and back; from our page into a console
logout_requests.py   what an application asks for when it logs somebody out
own_applications.py  what one is logged in to
authorization_codes.py, token_exchange.py, grants.py   from a code to what an application was granted, and its end
id_tokens.py, application_tokens.py, scope_claims.py   what an application gets, and what that says
application_access.py   what an application's access token opens
session_ends.py, backchannel.py     what hangs on a session ends with it, and applications are told
"""
