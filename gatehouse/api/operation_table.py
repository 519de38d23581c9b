"""The contract as a table: every operation under `/api/v1`, from the classes whose methods serve and declare them.

A new class goes into one of the three tuples below; a new operation into its class alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.administration.applications import ApplicationEndpoints
from gatehouse.api.administration.directory_sync import DirectorySyncEndpoint
from gatehouse.api.administration.identity_sources import IdentitySourceEndpoints
from gatehouse.api.administration.lockouts import LockoutEndpoints
from gatehouse.api.administration.role_perms import RolePermEndpoints
from gatehouse.api.administration.session_page import LiveSessionEndpoints
from gatehouse.api.administration.settings_and_checks import SettingsAndChecksEndpoints
from gatehouse.api.administration.user_credentials import UserCredentialEndpoints
from gatehouse.api.administration.user_identities import UserIdentityEndpoints
from gatehouse.api.console.department_page import DepartmentEndpoints
from gatehouse.api.console.dictionaries import DictionaryEndpoints
from gatehouse.api.console.log_page import LogEndpoints
from gatehouse.api.console.menu_page import MenuEndpoints
from gatehouse.api.console.notices import NoticeEndpoint
from gatehouse.api.console.online_users import OnlineUsersEndpoint
from gatehouse.api.console.profile_page import ProfileEndpoints
from gatehouse.api.console.role_page import RoleEndpoints
from gatehouse.api.console.side_menu import SideMenuEndpoint
from gatehouse.api.console.user_import_and_export import UserSheetEndpoints
from gatehouse.api.console.user_page import UserEndpoints
from gatehouse.api.login.browser_session import BrowserSessionEndpoint
from gatehouse.api.login.captcha import CaptchaEndpoint
from gatehouse.api.login.forced_enrolment import ForcedEnrolmentEndpoints
from gatehouse.api.login.passkey_login import PasskeyLoginEndpoints
from gatehouse.api.login.password_links import PasswordLinkEndpoints
from gatehouse.api.login.password_login import PasswordLoginEndpoint
from gatehouse.api.login.provider_login import ProviderLoginEndpoints
from gatehouse.api.login.qr_login import QrLoginEndpoints
from gatehouse.api.login.refresh_and_logout import RefreshAndLogoutEndpoints
from gatehouse.api.operation_declaration import Operation, operations_of
from gatehouse.api.own_account.current_user import CurrentUserEndpoint
from gatehouse.api.own_account.own_applications import OwnApplicationEndpoints
from gatehouse.api.own_account.own_identities import OwnIdentityEndpoints
from gatehouse.api.own_account.own_passkeys import PasskeyEndpoints
from gatehouse.api.own_account.own_password import OwnPasswordEndpoint
from gatehouse.api.own_account.own_second_factor import SecondFactorEndpoints
from gatehouse.api.own_account.own_sessions import OwnSessionEndpoints
from gatehouse.api.own_account.recent_logins import RecentLoginsEndpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.composition import Service
    from gatehouse.settings import Settings

    EndpointClasses = tuple[Callable[[Service], object], ...]

# Beside `CaptchaEndpoint`, which is built from more than the service.
LOGIN: EndpointClasses = (
    PasswordLoginEndpoint,
    RefreshAndLogoutEndpoints,
    ForcedEnrolmentEndpoints,
    PasskeyLoginEndpoints,
    QrLoginEndpoints,
    ProviderLoginEndpoints,
    PasswordLinkEndpoints,
    BrowserSessionEndpoint,
)

OWN_ACCOUNT: EndpointClasses = (
    CurrentUserEndpoint,
    OwnSessionEndpoints,
    OwnPasswordEndpoint,
    SecondFactorEndpoints,
    PasskeyEndpoints,
    OwnIdentityEndpoints,
    RecentLoginsEndpoint,
    OwnApplicationEndpoints,
)

CONSOLE: EndpointClasses = (
    SideMenuEndpoint,
    NoticeEndpoint,
    DictionaryEndpoints,
    OnlineUsersEndpoint,
    ProfileEndpoints,
    UserEndpoints,
    UserSheetEndpoints,
    RoleEndpoints,
    MenuEndpoints,
    DepartmentEndpoints,
    LogEndpoints,
    RolePermEndpoints,
    LiveSessionEndpoints,
    UserCredentialEndpoints,
    SettingsAndChecksEndpoints,
    LockoutEndpoints,
    IdentitySourceEndpoints,
    DirectorySyncEndpoint,
    UserIdentityEndpoints,
    ApplicationEndpoints,
)


def endpoint_classes(settings: Settings) -> EndpointClasses:
    """Those of this service: `GATEHOUSE_CONSOLE=off` removes the console's."""
    return (*LOGIN, *OWN_ACCOUNT, *(CONSOLE if settings.console else ()))


def operations(settings: Settings) -> tuple[Operation, ...]:
    """Those that this service answers."""
    return operations_of(CaptchaEndpoint, *endpoint_classes(settings))


OPERATIONS = operations_of(CaptchaEndpoint, *LOGIN, *OWN_ACCOUNT, *CONSOLE)
