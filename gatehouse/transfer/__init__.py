"""Import, export and move of accounts.

`youlai.py` and `files.py` read a source into the rows of `rows.py`; `plan.py` decides for each row whether to add,
change or refuse it; `importer.py` writes. `export.py` writes the files that `files.py` reads. `move.py` copies
the live sessions to another state store; `stores/accounts/copying.py` copies the accounts.
"""
