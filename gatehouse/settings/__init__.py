"""Every setting: its name, default and check, and how it is read. What each means is in `messages/`.

settings.py             the table of all settings: add a setting here
setting_declaration.py  how one is declared
cross_checks.py         which values are refused together
loading.py              flags, environment, TOML file
master_secret.py        the one that has a file of its own
description.py          the same table for documentation and `--help`
settings_in_force.py    the values in force, for the administration page
"""

from gatehouse.settings.description import descriptions
from gatehouse.settings.errors import SettingsError
from gatehouse.settings.loading import DEFAULT_CONFIG, load
from gatehouse.settings.settings import Settings
from gatehouse.settings.settings_in_force import effective_settings

__all__ = ["DEFAULT_CONFIG", "Settings", "SettingsError", "descriptions", "effective_settings", "load"]
