// Package verify checks the access tokens of Gatehouse: type, key, signature, issuer, audience, expiry and session.
//
// A Verifier follows the feed of ended sessions, so that a token is refused within a second of its logout.
// [Verifier.Guard] guards a net/http handler; the guards for gin are the module gatehouse.example/verify/ginguard.
package verify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const maxTokenLength = 4096

var (
	// ErrInvalid means that there is no token, or that it is not valid: 401.
	ErrInvalid = errors.New("not a good access token")
	// ErrForbidden means that the token is good, and its user may not do this: 403.
	ErrForbidden = errors.New("not allowed")
	// ErrUnavailable means that the check could not be made: 503. It is no reason to log anybody out.
	ErrUnavailable = errors.New("Gatehouse cannot be reached")
)

// Options of a Verifier. URL and ServiceKey are needed, the rest has defaults.
type Options struct {
	URL        string        // the address of Gatehouse as this service reaches it
	ServiceKey string        // from `gatehouse service-key add NAME`
	Issuer     string        // GATEHOUSE_ISSUER; the URL unless set
	Audience   string        // GATEHOUSE_AUDIENCE; "gatehouse" unless set
	TokenType  string        // GATEHOUSE_TOKEN_TYPE; "at+jwt" unless set
	Leeway     time.Duration // by which clocks may differ; 10 s unless set, at most 120 s; negative for none
	MaxSilence time.Duration // after which the feed of ended sessions is out of date; 5 s unless set, at least 2 s
	FailOpen   bool          // accept tokens until they expire while the feed is out of date, in place of 503
	AllowHTTP  bool          // allow plain http to another machine, on a network that you trust
	Logger     *slog.Logger  // receives the lines about outages; slog.Default() unless set
}

// Verifier is safe for use by many goroutines. One is enough for a process.
type Verifier struct {
	keys      *keySet
	parser    *jwt.Parser
	tokenType string
	ended     *endedSessions
	close     context.CancelFunc
}

// New starts to follow the feed of ended sessions and returns at once, also while Gatehouse cannot be reached: checks
// fail with ErrUnavailable until it can. An error means that an option is wrong.
func New(options Options) (*Verifier, error) {
	options, err := withDefaults(options)
	if err != nil {
		return nil, err
	}
	address := strings.TrimRight(options.URL, "/")
	consequence := "requests are answered 503"
	if options.FailOpen {
		consequence = "tokens are accepted until they expire"
	}
	stop, closeFeed := context.WithCancel(context.Background())
	ended := &endedSessions{
		url:        address + "/events/ended-sessions/stream",
		serviceKey: options.ServiceKey,
		maxSilence: options.MaxSilence,
		failOpen:   options.FailOpen,
		stop:       stop,
		outages: &outageLog{
			logger:      options.Logger,
			what:        "the feed of ended sessions is out of date",
			consequence: consequence,
		},
	}
	ended.start()
	keys := &keySet{
		url:   address + "/.well-known/jwks.json",
		fresh: ended.fresh,
		outages: &outageLog{
			logger:      options.Logger,
			what:        "the public keys cannot be fetched",
			consequence: "known ones are used for 65 minutes",
		},
	}
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{"ES256", "EdDSA", "RS256"}),
		jwt.WithIssuer(options.Issuer),
		jwt.WithAudience(options.Audience),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(max(options.Leeway, 0)),
	)
	return &Verifier{keys, parser, options.TokenType, ended, closeFeed}, nil
}

func withDefaults(options Options) (Options, error) {
	if err := checkURL(options.URL, options.AllowHTTP); err != nil {
		return options, err
	}
	if options.ServiceKey == "" {
		return options, errors.New("ServiceKey: make one with `gatehouse service-key add NAME`")
	}
	setDefault(&options.Issuer, options.URL)
	setDefault(&options.Audience, "gatehouse")
	setDefault(&options.TokenType, "at+jwt")
	setDefault(&options.Leeway, 10*time.Second)
	setDefault(&options.MaxSilence, 5*time.Second)
	setDefault(&options.Logger, slog.Default())
	if options.Leeway > maxLeeway {
		return options, fmt.Errorf("Leeway: expected at most %s", maxLeeway)
	}
	if options.MaxSilence < 2*time.Second {
		return options, errors.New("MaxSilence: expected at least 2 s, as Gatehouse sends an event every second")
	}
	return options, nil
}

func setDefault[T comparable](option *T, value T) {
	var unset T
	if *option == unset {
		*option = value
	}
}

// checkURL refuses plain http to another machine: whoever can change an answer decides which tokens are valid.
func checkURL(given string, allowHTTP bool) error {
	address, err := url.Parse(given)
	if err != nil || address.Hostname() == "" || address.Scheme != "http" && address.Scheme != "https" {
		return fmt.Errorf("URL: expected an http or https URL, got %q", given)
	}
	ip := net.ParseIP(address.Hostname())
	loopback := address.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if address.Scheme == "http" && !allowHTTP && !loopback {
		return fmt.Errorf("URL: %q is not https; on a network that you trust, set AllowHTTP", given)
	}
	return nil
}

// Close ends the connection to the feed. Checks fail with ErrUnavailable afterwards.
func (v *Verifier) Close() {
	v.close()
}

type claims struct {
	jwt.RegisteredClaims
	Session  string   `json:"sid"`
	Username string   `json:"preferred_username"`
	Roles    []string `json:"roles"`
	Perms    []string `json:"perms"`
}

// Check says whose token it is. It fails with ErrInvalid, or with ErrUnavailable if the check cannot be made.
func (v *Verifier) Check(ctx context.Context, token string) (*Principal, error) {
	if len(token) > maxTokenLength {
		return nil, fmt.Errorf("%w: longer than any access token", ErrInvalid)
	}
	v.ended.wait(ctx)
	var given claims
	if _, err := v.parser.ParseWithClaims(token, &given, v.key); err != nil {
		if errors.Is(err, ErrUnavailable) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	user, err := strconv.ParseUint(given.Subject, 10, 63)
	if err != nil || given.Session == "" || given.IssuedAt == nil {
		return nil, fmt.Errorf("%w: sub, sid or iat is not of the right form", ErrInvalid)
	}
	if err := v.ended.check(given.Session, given.IssuedAt.Time); err != nil {
		return nil, err
	}
	return &Principal{int64(user), given.Username, given.Session, given.Roles, given.Perms}, nil
}

// key returns the key that the token names, if it is meant for the token's algorithm. The token has no other say in it.
func (v *Verifier) key(token *jwt.Token) (any, error) {
	kid, named := token.Header["kid"].(string)
	_, critical := token.Header["crit"]
	if !named || critical || token.Header["typ"] != v.tokenType {
		return nil, errors.New("not an access token")
	}
	key, err := v.keys.find(kid)
	if err != nil {
		return nil, err
	}
	if key == nil || key.algorithm != token.Method.Alg() {
		return nil, errors.New("signed by no key of Gatehouse")
	}
	return key.public, nil
}
