"""The version of the server and of every package that is released with it; `release/versions.py` compares them."""

__version__ = "0.2.0"
