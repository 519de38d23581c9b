"""What the management consoles of this family call, over `management/`: a file for each page.

`GATEHOUSE_CONSOLE=off` removes them.
"""
