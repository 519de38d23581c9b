package main

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// LoggedIn lets nobody past without a good token. Its answers are those that consoles of this family act on.
func LoggedIn(verifier *Verifier) gin.HandlerFunc {
	return func(c *gin.Context) {
		scheme, token, _ := strings.Cut(c.GetHeader("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") {
			token = ""
		}
		principal, err := verifier.Check(token)
		switch {
		case errors.Is(err, ErrUnavailable):
			c.Header("Retry-After", "2")
			refuse(c, http.StatusServiceUnavailable, "C0300", "The service is not available, try again in a moment")
		case err != nil:
			c.Header("WWW-Authenticate", `Bearer error="invalid_token"`)
			refuse(c, http.StatusUnauthorized, "A0230", "Please log in")
		default:
			c.Set("principal", principal)
		}
	}
}

// RequirePerm stands behind LoggedIn.
func RequirePerm(perms ...string) gin.HandlerFunc {
	return func(c *gin.Context) {
		if !PrincipalOf(c).MayAll(perms...) {
			refuse(c, http.StatusForbidden, "A0301", "Not allowed")
		}
	}
}

func PrincipalOf(c *gin.Context) *Principal {
	return c.MustGet("principal").(*Principal)
}

func refuse(c *gin.Context, status int, code, message string) {
	c.AbortWithStatusJSON(status, gin.H{"code": code, "msg": message})
}
