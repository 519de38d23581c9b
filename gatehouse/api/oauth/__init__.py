"""The OpenID provider over HTTP, as the standards have it, and the plain pages that people meet on the way.

authorize.py      where an application sends a browser, and the consent
sign_in.py, company.py      the login forms; logins with a company account
console_entry.py  from a login at our page into a console
logout.py         the end-session endpoint
flows.py          what somebody signs in for, and how it goes on afterwards
flow_pages.py, sign_in_page.py    the pages: templates of `api/pages/static`, filled and escaped
application_requests.py     how applications are answered
token_endpoints.py, userinfo.py   what they call
"""
