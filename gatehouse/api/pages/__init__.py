"""The web pages: login, account and the description of the API, served from memory by the service itself."""

from gatehouse.api.pages.pages import Pages

__all__ = ["Pages"]
