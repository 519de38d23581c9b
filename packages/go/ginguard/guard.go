// Package ginguard guards gin handlers with the access tokens of Gatehouse.
package ginguard

import (
	"gatehouse.example/verify"
	"github.com/gin-gonic/gin"
)

// Guard lets nobody past without a good token: 401, or 503 if the check cannot be made.
func Guard(verifier *verify.Verifier) gin.HandlerFunc {
	return func(c *gin.Context) {
		principal, err := verifier.Authenticate(c.Request)
		if err != nil {
			refuse(c, err)
			return
		}
		c.Request = c.Request.WithContext(verify.WithPrincipal(c.Request.Context(), principal))
	}
}

// RequirePerms stands behind Guard: all of these perms are needed, otherwise 403.
func RequirePerms(perms ...string) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := PrincipalOf(c).RequirePerms(perms...); err != nil {
			refuse(c, err)
		}
	}
}

// RequireRoles stands behind Guard: one of these roles is needed, otherwise 403.
func RequireRoles(anyOf ...string) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := PrincipalOf(c).RequireRoles(anyOf...); err != nil {
			refuse(c, err)
		}
	}
}

// PrincipalOf panics where no guard has let the request in: that is a mistake in the program.
func PrincipalOf(c *gin.Context) *verify.Principal {
	return verify.PrincipalOf(c.Request.Context())
}

func refuse(c *gin.Context, err error) {
	verify.Refuse(c.Writer, err)
	c.Abort()
}
