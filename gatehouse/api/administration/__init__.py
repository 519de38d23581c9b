"""Operations of the administration page, beside those of the consoles. `GATEHOUSE_CONSOLE=off` removes them too."""
