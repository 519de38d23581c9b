"""Bringing accounts along from elsewhere, and taking them away again.

`youlai.py` and `files.py` read a source into the rows of `rows.py`; `plan.py` decides what each row means for what is
here; `bring.py` does it. `export.py` writes the files that `files.py` reads.
"""
