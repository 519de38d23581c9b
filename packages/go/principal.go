package verify

import (
	"fmt"
	"slices"
)

// Principal is who a good token speaks for.
type Principal struct {
	UserID   int64
	Username string
	Session  string
	Roles    []string
	Perms    []string // empty unless Gatehouse runs with GATEHOUSE_TOKEN_PERMS=on
}

// RequirePerms fails with ErrForbidden unless the user has every one of these perms.
func (p *Principal) RequirePerms(perms ...string) error {
	for _, perm := range perms {
		if !slices.Contains(p.Perms, perm) {
			return fmt.Errorf("%w: user %d lacks %s", ErrForbidden, p.UserID, perm)
		}
	}
	return nil
}

// RequireRoles fails with ErrForbidden unless the user holds at least one of these roles.
func (p *Principal) RequireRoles(anyOf ...string) error {
	for _, role := range anyOf {
		if slices.Contains(p.Roles, role) {
			return nil
		}
	}
	return fmt.Errorf("%w: user %d holds none of the roles %v", ErrForbidden, p.UserID, anyOf)
}
