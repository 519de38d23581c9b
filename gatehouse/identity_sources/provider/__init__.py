"""OpenID providers, and two that differ from the standard. httpx is imported when the first one is asked."""
