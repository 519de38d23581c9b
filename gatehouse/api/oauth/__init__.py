"""The OpenID provider over HTTP, as the standards have it, and the plain pages that people meet on the way.

flow_pages.py     the pages: templates of `api/pages/static`, filled and escaped
flows.py          what somebody signs in for, and how it goes on afterwards
sign_in.py, authorize.py    the steps of a login for an application
application_requests.py     how applications are answered
token_endpoints.py, userinfo.py   what they call
"""
