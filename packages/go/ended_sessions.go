package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"
)

const maxSilence = 5 * time.Second

// EndedSessions follows the sessions that end: a logout is known within a second, and a request costs a look into a
// map. Gatehouse writes to the stream every second. After five seconds of silence every request is refused
// (503), and a stream that falls five seconds behind is opened again. Otherwise a thief could cut the connection or
// hold its events back, and use a stolen token after the logout.
type EndedSessions struct {
	url, serviceKey, position string
	caughtUp                  chan struct{}
	started                   time.Time
	leastLag                  float64 // seconds between the two clocks, by the fastest event of this connection
	keep                      float64 // seconds, only ever raised: older tokens may live longer than newer ones

	lock          sync.RWMutex
	ended         map[string]float64 // session: when it ended
	missingBefore float64
	heard         time.Time
}

// NewEndedSessions returns when all that ended so far is known, or after five seconds without it.
func NewEndedSessions(gatehouse, serviceKey string) *EndedSessions {
	e := &EndedSessions{
		url:        gatehouse + "/events/ended-sessions/stream",
		serviceKey: serviceKey,
		caughtUp:   make(chan struct{}, 1),
		started:    time.Now(),
		ended:      map[string]float64{},
	}
	go e.run()
	select {
	case <-e.caughtUp:
	case <-time.After(maxSilence):
	}
	return e
}

// Has says whether the session has ended, or may have. An error means that it cannot be known.
func (e *EndedSessions) Has(session string, issued time.Time) (bool, error) {
	e.lock.RLock()
	defer e.lock.RUnlock()
	if _, found := e.ended[session]; found {
		return true, nil
	}
	if time.Since(e.heard) > maxSilence {
		return false, errors.New("the feed of ended sessions is stale")
	}
	return float64(issued.Unix()) < e.missingBefore, nil
}

func (e *EndedSessions) run() {
	for {
		if err := e.follow(); err != nil {
			log.Print("ended sessions: ", err)
		}
		time.Sleep(500 * time.Millisecond)
	}
}

func (e *EndedSessions) follow() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	silence := time.AfterFunc(maxSilence, cancel)
	defer silence.Stop()
	question, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url, nil)
	if err != nil {
		return err
	}
	question.Header.Set("Authorization", "Bearer "+e.serviceKey)
	if e.position == "" {
		question.URL.RawQuery = "after=oldest"
	} else {
		question.Header.Set("Last-Event-ID", e.position)
	}
	answer, err := http.DefaultClient.Do(question)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusUnauthorized {
		return errors.New("the feed answers 401: check the service key")
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the feed answers %s", answer.Status)
	}
	e.leastLag = math.Inf(1)
	event := map[string]string{}
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if name, value, _ := strings.Cut(lines.Text(), ": "); name != "" {
			event[name] = value
		} else if event["data"] != "" {
			if err := e.take(event["event"], event["id"], []byte(event["data"])); err != nil {
				return err
			}
			silence.Reset(maxSilence)
			clear(event)
		}
	}
	return lines.Err()
}

func (e *EndedSessions) take(name, id string, data []byte) error {
	var told struct {
		Session       string  `json:"sid"`
		At            float64 `json:"at"`
		MissingBefore float64 `json:"missing_before"`
		Keep          float64 `json:"keep"`
	}
	if err := json.Unmarshal(data, &told); err != nil {
		return err
	}
	e.lock.Lock()
	defer e.lock.Unlock()
	switch name {
	case "ended":
		e.ended[told.Session] = told.At
	case "gap":
		e.missingBefore = max(e.missingBefore, told.MissingBefore)
	case "position":
		if err := e.refuseLate(told.At); err != nil {
			return err
		}
		e.keep = max(e.keep, told.Keep)
		horizon := float64(time.Now().Unix()) - e.keep // by the clock that `exp` is checked with
		for session, at := range e.ended {
			if at < horizon {
				delete(e.ended, session)
			}
		}
		e.position, e.heard = id, time.Now()
		select {
		case e.caughtUp <- struct{}{}:
		default:
		}
	}
	return nil
}

func (e *EndedSessions) refuseLate(sent float64) error {
	lag := time.Since(e.started).Seconds() - sent
	e.leastLag = min(e.leastLag, lag)
	if lag > e.leastLag+maxSilence.Seconds() {
		return errors.New("the feed arrives late")
	}
	return nil
}
