package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Sessions asks Gatehouse about the session of each token, so a logout counts at once. No answer, no entry.
type Sessions struct {
	http       http.Client
	address    string
	serviceKey string
}

func NewSessions(gatehouse, serviceKey string) *Sessions {
	return &Sessions{http.Client{Timeout: 3 * time.Second}, gatehouse + "/oauth2/introspect", serviceKey}
}

func (s *Sessions) Open(ctx context.Context, token string) (bool, error) {
	form := strings.NewReader(url.Values{"token": {token}}.Encode())
	question, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address, form)
	if err != nil {
		return false, err
	}
	question.Header.Set("Authorization", "Bearer "+s.serviceKey)
	question.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := s.http.Do(question)
	if err != nil {
		return false, err
	}
	var state struct{ Active bool }
	err = errors.Join(json.NewDecoder(answer.Body).Decode(&state), answer.Body.Close())
	if answer.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("introspection answers %s", answer.Status))
	}
	return state.Active && err == nil, err
}
