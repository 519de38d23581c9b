"""Users, roles, perms and departments: the rules for changing them, and what people change for themselves."""
