"""Clients of OpenID providers, and of DingTalk and Feishu, which have a way of their own.

httpx is an extra (`openid`), imported when a provider is opened; nothing outside this package imports it.
"""
