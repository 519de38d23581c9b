"""The web pages: login, account, administration, set a password, confirm a QR code, description of the API.

The service itself serves them, from memory.
"""

from gatehouse.api.pages.pages import Pages

__all__ = ["Pages"]
