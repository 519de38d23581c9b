package main

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"
)

// ErrUnavailable means that it could not be found out whether a token is good. It is no reason to log anybody out.
var ErrUnavailable = errors.New("Gatehouse cannot be asked")

var errInvalid = errors.New("not a good access token")

// Principal is who a good token speaks for.
type Principal struct {
	UserID   int64
	Username string
	Roles    []string
	Perms    []string
}

type claims struct {
	jwt.RegisteredClaims
	Session  string   `json:"sid"`
	Username string   `json:"preferred_username"`
	Roles    []string `json:"roles"`
	Perms    []string `json:"perms"`
}

// Verifier checks type, key, signature, issuer, audience, expiry and session.
type Verifier struct {
	keys      keyfunc.Keyfunc
	parser    *jwt.Parser
	tokenType string
	ended     *EndedSessions
}

func NewVerifier(
	ctx context.Context, gatehouse, issuer, audience, tokenType string, ended *EndedSessions,
) (*Verifier, error) {
	// Fetched now, every five minutes, and at once for an unknown key, at most once a second. Nobody waits for a
	// second fetch: forged tokens would hold up requests.
	startWithoutKeys := false
	keys, err := keyfunc.NewDefaultOverrideCtx(ctx, []string{gatehouse + "/.well-known/jwks.json"}, keyfunc.Override{
		HTTPTimeout:               3 * time.Second,
		RefreshInterval:           5 * time.Minute,
		RefreshUnknownKID:         rate.NewLimiter(rate.Every(time.Second), 1),
		RateLimitWaitMax:          time.Millisecond,
		NoErrorReturnFirstHTTPReq: &startWithoutKeys,
	})
	if err != nil {
		return nil, err
	}
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{"ES256", "EdDSA", "RS256"}),
		jwt.WithIssuer(issuer),
		jwt.WithAudience(audience),
		jwt.WithExpirationRequired(),
		jwt.WithLeeway(10*time.Second),
	)
	return &Verifier{keys, parser, tokenType, ended}, nil
}

func (v *Verifier) Check(token string) (*Principal, error) {
	var found claims
	if _, err := v.parser.ParseWithClaims(token, &found, v.key); err != nil {
		return nil, errInvalid
	}
	user, err := strconv.ParseInt(found.Subject, 10, 64)
	if err != nil || found.Session == "" || found.IssuedAt == nil {
		return nil, errInvalid
	}
	ended, err := v.ended.Has(found.Session, found.IssuedAt.Time)
	if err != nil {
		return nil, ErrUnavailable
	}
	if ended {
		return nil, errInvalid
	}
	return &Principal{user, found.Username, found.Roles, found.Perms}, nil
}

// key returns the key that the token names; keyfunc refuses a token whose algorithm is not the key's. For a token
// without kid it would offer every key, and it ignores crit, so both are refused here.
func (v *Verifier) key(token *jwt.Token) (any, error) {
	_, named := token.Header["kid"].(string)
	_, critical := token.Header["crit"]
	if !named || critical || token.Header["typ"] != v.tokenType {
		return nil, errInvalid
	}
	return v.keys.Keyfunc(token)
}

func (p *Principal) MayAll(perms ...string) bool {
	for _, perm := range perms {
		if !slices.Contains(p.Perms, perm) {
			return false
		}
	}
	return true
}
