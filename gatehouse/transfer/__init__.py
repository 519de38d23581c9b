"""Import, export and move of accounts.

`youlai_mapping.py`, `file_reader.py` and `user_sheet_reader.py` read a source into the rows of `import_rows.py`;
`import_plan.py` decides for each row of a user whether to add, change or refuse it, for the command line and for the
console alike; `importer.py` writes. `export.py` writes the files that `file_reader.py` reads (`file_format.py`).
`session_move.py` copies the live sessions to another state store; `stores/database/database_copy.py` copies the
accounts. `xlsx.py` reads and writes spreadsheets, uploaded ones in a process of their own (`xlsx_subprocess.py`).
"""
