package verify

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"sync"
	"time"
)

const (
	keysMaxAge      = 5 * time.Minute
	keysStaleFor    = time.Hour
	keysMinInterval = time.Second
	keysTimeout     = 3 * time.Second
	maxKeys         = 100
	maxAnswerBytes  = 256 * 1024
	minRSABits      = 2048
)

// client follows no redirect: a service key must not be sent to somewhere else.
var client = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

type verificationKey struct {
	algorithm string
	public    crypto.PublicKey
}

// keySet has the public keys of Gatehouse: fetched when needed, cached, and fetched again at a bounded rate.
//
//   - A key that is known and fresh is used without a request.
//   - After five minutes the set is fetched again, so that a retired key is forgotten. In an outage it is used for an
//     hour more.
//   - A kid that is not known causes a fetch, at most one a second, whatever forged tokens arrive.
type keySet struct {
	url     string
	fresh   func() bool // whether the feed is up to date; otherwise its lines in the log say all there is to say
	outages *outageLog

	updating sync.Mutex // one fetch at a time; nobody who knows a fresh key waits for it

	lock    sync.RWMutex
	keys    map[string]verificationKey
	fetched time.Time
	tried   time.Time
	problem error
}

// find returns the key, or nil if Gatehouse has no such key. It fails with ErrUnavailable if that cannot be found out.
func (k *keySet) find(kid string) (*verificationKey, error) {
	if !k.isCurrent(kid) {
		k.update(kid)
	}
	k.lock.RLock()
	defer k.lock.RUnlock()
	key, known := k.keys[kid]
	if known && time.Since(k.fetched) < keysMaxAge+keysStaleFor {
		return &key, nil
	}
	if k.problem != nil {
		return nil, fmt.Errorf("%w: the public keys cannot be fetched: %w", ErrUnavailable, k.problem)
	}
	return nil, nil
}

// isCurrent says whether no fetch is needed, or none is allowed yet.
func (k *keySet) isCurrent(kid string) bool {
	k.lock.RLock()
	defer k.lock.RUnlock()
	_, known := k.keys[kid]
	return known && time.Since(k.fetched) < keysMaxAge || time.Since(k.tried) < keysMinInterval
}

func (k *keySet) update(kid string) {
	k.updating.Lock()
	defer k.updating.Unlock()
	if k.isCurrent(kid) {
		return // another goroutine has just fetched them
	}
	keys, err := fetchKeys(k.url)
	k.lock.Lock()
	defer k.lock.Unlock()
	// Counted from the end, so that a service which fails slowly is not asked without pause.
	k.tried = time.Now()
	k.problem = err
	if err == nil {
		k.keys, k.fetched = keys, k.tried
		k.outages.recovered()
	} else if k.fresh() {
		k.outages.failed(err)
	}
}

func fetchKeys(url string) (map[string]verificationKey, error) {
	ctx, cancel := context.WithTimeout(context.Background(), keysTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered HTTP %d", url, answer.StatusCode)
	}
	var set struct {
		Keys []jwk `json:"keys"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxAnswerBytes)).Decode(&set); err != nil {
		return nil, fmt.Errorf("not a JWKS: %w", err)
	}
	if len(set.Keys) > maxKeys {
		return nil, errors.New("not a JWKS: too many keys")
	}
	keys := map[string]verificationKey{}
	for _, listed := range set.Keys {
		key, err := listed.verificationKey()
		if err != nil {
			return nil, fmt.Errorf("not a JWKS: the key %q: %w", listed.ID, err)
		}
		usable := key != nil && listed.ID != "" && (listed.Use == "" || listed.Use == "sig")
		if usable && (listed.Algorithm == "" || listed.Algorithm == key.algorithm) {
			keys[listed.ID] = *key
		}
	}
	return keys, nil
}

type jwk struct {
	ID        string `json:"kid"`
	Type      string `json:"kty"`
	Curve     string `json:"crv"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
	X         string `json:"x"`
	Y         string `json:"y"`
	N         string `json:"n"`
	E         string `json:"e"`
}

// verificationKey is nil for a key of a kind that signs no access tokens.
func (j jwk) verificationKey() (*verificationKey, error) {
	switch {
	case j.Type == "EC" && j.Curve == "P-256":
		x, y, err := numbers(j.X, j.Y)
		if err != nil {
			return nil, err
		}
		key := &ecdsa.PublicKey{Curve: elliptic.P256(), X: x, Y: y}
		if _, err := key.ECDH(); err != nil { // the point must be on the curve
			return nil, err
		}
		return &verificationKey{"ES256", key}, nil
	case j.Type == "OKP" && j.Curve == "Ed25519":
		raw, err := base64.RawURLEncoding.DecodeString(j.X)
		if err != nil || len(raw) != ed25519.PublicKeySize {
			return nil, errors.New("not an Ed25519 key")
		}
		return &verificationKey{"EdDSA", ed25519.PublicKey(raw)}, nil
	case j.Type == "RSA":
		n, e, err := numbers(j.N, j.E)
		if err != nil {
			return nil, err
		}
		if n.BitLen() < minRSABits || !e.IsInt64() || e.Int64() > 1<<31-1 {
			return nil, errors.New("not a strong RSA key")
		}
		return &verificationKey{"RS256", &rsa.PublicKey{N: n, E: int(e.Int64())}}, nil
	}
	return nil, nil
}

func numbers(first, second string) (*big.Int, *big.Int, error) {
	a, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil {
		return nil, nil, err
	}
	b, err := base64.RawURLEncoding.DecodeString(second)
	return new(big.Int).SetBytes(a), new(big.Int).SetBytes(b), err
}
