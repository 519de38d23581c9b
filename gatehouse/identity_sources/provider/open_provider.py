"""The client for a provider, by its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.identity_sources.definitions import ProviderConfig, SourceKind
from gatehouse.identity_sources.provider.dingtalk import DingTalk
from gatehouse.identity_sources.provider.feishu import Feishu
from gatehouse.identity_sources.provider.openid_provider import OpenIdProvider

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.identity_sources.clients import Provider


def open_provider(kind: SourceKind, config: ProviderConfig, client_secret: str, clock: Callable[[], float]) -> Provider:
    """Asks nobody yet. Raises `SourceUnavailable` if httpx or a file of the configuration is missing."""
    match kind:
        case SourceKind.OPENID:
            return OpenIdProvider(config, client_secret, clock)
        case SourceKind.DINGTALK:
            return DingTalk(config, client_secret)
        case SourceKind.FEISHU:
            return Feishu(config, client_secret)
        case SourceKind.DIRECTORY:
            raise ValueError("a directory is no provider")
