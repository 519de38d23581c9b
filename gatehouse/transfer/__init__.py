"""Import, export and move of accounts.

`youlai.py` and `files.py` read a source into the rows of `rows.py`; `plan.py` decides for each row of a user
whether to add, change or refuse it; `importer.py` writes. `export.py` writes the files that `files.py` reads
(`file_format.py`). `move.py` copies the live sessions to another state store; `stores/accounts/copying.py` copies the
accounts. `xlsx.py` reads and writes the spreadsheets of the console, uploaded ones in a process of their own
(`xlsx_process.py`); `auth/accounts/user_import.py` decides about their rows.
"""
