"""Every sentence for people, in every language: a file for each language, a section for each kind, a code for each.

en.json       English: the default, and what the command line prints
zh.json       Chinese
sentences.py  finds a sentence by its code, and fills in the values

A new language is one new file.
"""

from gatehouse.messages.sentences import DEFAULT, Message, in_language, languages, message, section

__all__ = ["DEFAULT", "Message", "in_language", "languages", "message", "section"]
