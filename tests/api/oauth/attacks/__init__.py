"""What attackers try with the provider; `docs/openid-attacks.md` is the table. Each test tries it as they would: over
HTTP, as a person's browser, as another site's form, or as an application that is registered and hostile.
"""
