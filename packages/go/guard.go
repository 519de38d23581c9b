package verify

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

type contextKey struct{}

// Guard lets nobody past without a good token: 401, or 503 if the check cannot be made.
func (v *Verifier) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		principal, err := v.Authenticate(r)
		if err != nil {
			Refuse(w, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(WithPrincipal(r.Context(), principal)))
	})
}

// RequirePerms stands behind Guard: all of these perms are needed, otherwise 403.
func RequirePerms(next http.Handler, perms ...string) http.Handler {
	return requirement(next, func(p *Principal) error { return p.RequirePerms(perms...) })
}

// RequireRoles stands behind Guard: one of these roles is needed, otherwise 403.
func RequireRoles(next http.Handler, anyOf ...string) http.Handler {
	return requirement(next, func(p *Principal) error { return p.RequireRoles(anyOf...) })
}

func requirement(next http.Handler, check func(*Principal) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := check(PrincipalOf(r.Context())); err != nil {
			Refuse(w, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Authenticate checks the token of the only Authorization header. Two count as none: a proxy may have read the other.
func (v *Verifier) Authenticate(r *http.Request) (*Principal, error) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return nil, ErrInvalid
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return nil, ErrInvalid
	}
	return v.Check(r.Context(), strings.TrimSpace(token))
}

// WithPrincipal is for guards of other frameworks.
func WithPrincipal(ctx context.Context, principal *Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, principal)
}

// PrincipalOf panics where no guard has let the request in: that is a mistake in the program.
func PrincipalOf(ctx context.Context) *Principal {
	principal, guarded := ctx.Value(contextKey{}).(*Principal)
	if !guarded {
		panic("gatehouse: no guard stands before this handler")
	}
	return principal
}

// Refuse answers in the envelope that consoles of the vue3-element-admin family act on.
func Refuse(w http.ResponseWriter, err error) {
	status, code, message := http.StatusUnauthorized, "A0230", "Please log in"
	header, value := "WWW-Authenticate", `Bearer error="invalid_token"`
	switch {
	case errors.Is(err, ErrUnavailable):
		status, code, message = http.StatusServiceUnavailable, "C0300", "The service is not available, try again in a moment"
		header, value = "Retry-After", "2"
	case errors.Is(err, ErrForbidden):
		status, code, message = http.StatusForbidden, "A0301", "Not allowed"
		value = `Bearer error="insufficient_scope"`
	}
	w.Header().Set(header, value)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"code": code, "msg": message})
}
