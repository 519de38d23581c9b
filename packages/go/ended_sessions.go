package verify

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	reconnectAfter = 500 * time.Millisecond
	// maxLeeway is the most that a token is accepted after its expiry.
	maxLeeway = 120 * time.Second
)

// endedSessions follows the sessions that end: a logout is known within a second, and a request costs a look into a
// map. Gatehouse writes to the stream every second. After maxSilence without an event the feed is out of date, and a
// stream that falls so far behind is opened again. Otherwise a thief could cut the connection or hold its events
// back, and use a stolen token after the logout.
type endedSessions struct {
	url, serviceKey string
	maxSilence      time.Duration
	failOpen        bool
	outages         *outageLog
	stop            context.Context

	started  time.Time
	caughtUp chan struct{} // closed when all that ended so far is known
	onceRead sync.Once
	position string
	leastLag float64 // seconds between the two clocks, by the fastest event of this connection
	keep     float64 // seconds, only ever raised: older tokens may live longer than newer ones

	lock          sync.RWMutex
	ended         map[string]float64 // session: when it ended
	missingBefore float64
	heard         time.Time
	problem       error
}

func (e *endedSessions) start() {
	e.started = time.Now()
	e.caughtUp = make(chan struct{})
	e.ended = map[string]float64{}
	e.problem = errors.New("it has not been read yet")
	go e.run()
}

// wait returns when all that ended before the start is known, or when maxSilence has passed without it.
func (e *endedSessions) wait(ctx context.Context) {
	select {
	case <-e.caughtUp:
		return
	default:
	}
	timeout := time.NewTimer(time.Until(e.started.Add(e.maxSilence)))
	defer timeout.Stop()
	select {
	case <-e.caughtUp:
	case <-timeout.C:
	case <-ctx.Done():
	}
}

func (e *endedSessions) fresh() bool {
	e.lock.RLock()
	defer e.lock.RUnlock()
	return time.Since(e.heard) <= e.maxSilence
}

// check fails with ErrInvalid if the session has ended, or may have; with ErrUnavailable if that cannot be known.
func (e *endedSessions) check(session string, issued time.Time) error {
	e.lock.RLock()
	defer e.lock.RUnlock()
	if _, ended := e.ended[session]; ended {
		return fmt.Errorf("%w: the session has ended", ErrInvalid)
	}
	if e.failOpen {
		return nil
	}
	if time.Since(e.heard) > e.maxSilence {
		return fmt.Errorf("%w: the feed of ended sessions is out of date: %w", ErrUnavailable, e.problem)
	}
	if float64(issued.Unix()) < e.missingBefore {
		return fmt.Errorf("%w: the session may have ended: the feed has a gap", ErrInvalid)
	}
	return nil
}

func (e *endedSessions) run() {
	for e.stop.Err() == nil {
		err := e.follow()
		if err == nil {
			err = errors.New("the stream has ended")
		}
		e.lock.Lock()
		e.problem = err
		e.lock.Unlock()
		if e.stop.Err() == nil && !e.fresh() {
			e.outages.failed(err)
		}
		select {
		case <-e.stop.Done():
		case <-time.After(reconnectAfter):
		}
	}
}

func (e *endedSessions) follow() error {
	ctx, cancel := context.WithCancelCause(e.stop)
	defer cancel(nil)
	silence := time.AfterFunc(e.maxSilence, func() { cancel(fmt.Errorf("silent for %s", e.maxSilence)) })
	defer silence.Stop()
	answer, err := e.open(ctx)
	if err != nil {
		return causeOf(ctx, err)
	}
	defer answer.Body.Close()
	e.leastLag = math.Inf(1)
	event := map[string]string{}
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if name, value, _ := strings.Cut(lines.Text(), ":"); name != "" {
			event[name] = strings.TrimPrefix(value, " ")
		} else if event["data"] != "" {
			if err := e.take(event["event"], event["id"], []byte(event["data"])); err != nil {
				return err
			}
			silence.Reset(e.maxSilence)
			clear(event)
		}
	}
	return causeOf(ctx, lines.Err())
}

func (e *endedSessions) open(ctx context.Context) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+e.serviceKey)
	request.Header.Set("Accept", "text/event-stream")
	if e.position == "" {
		request.URL.RawQuery = "after=oldest"
	} else {
		request.Header.Set("Last-Event-ID", e.position)
	}
	answer, err := client.Do(request)
	if err != nil || answer.StatusCode == http.StatusOK {
		return answer, err
	}
	answer.Body.Close()
	if answer.StatusCode == http.StatusUnauthorized {
		return nil, errors.New("HTTP 401: check the service key")
	}
	return nil, fmt.Errorf("HTTP %d", answer.StatusCode)
}

func causeOf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (e *endedSessions) take(name, id string, data []byte) error {
	var event struct {
		Session       string  `json:"sid"`
		At            float64 `json:"at"`
		MissingBefore float64 `json:"missing_before"`
		Keep          float64 `json:"keep"`
	}
	if err := json.Unmarshal(data, &event); err != nil {
		return err
	}
	e.lock.Lock()
	defer e.lock.Unlock()
	switch name {
	case "ended":
		e.ended[event.Session] = event.At
	case "gap":
		e.missingBefore = max(e.missingBefore, event.MissingBefore)
	case "position":
		if err := e.refuseLate(event.At); err != nil {
			return err
		}
		e.keep = max(e.keep, event.Keep)
		e.dropExpired()
		e.position, e.heard = id, time.Now()
		e.onceRead.Do(func() { close(e.caughtUp) })
		e.outages.recovered()
	}
	return nil
}

func (e *endedSessions) refuseLate(sent float64) error {
	lag := time.Since(e.started).Seconds() - sent
	e.leastLag = min(e.leastLag, lag)
	if lag > e.leastLag+e.maxSilence.Seconds() {
		return errors.New("the feed arrives late")
	}
	return nil
}

// dropExpired goes by the clock that exp is checked with.
func (e *endedSessions) dropExpired() {
	horizon := float64(time.Now().Unix()) - e.keep - maxLeeway.Seconds()
	for session, at := range e.ended {
		if at < horizon {
			delete(e.ended, session)
		}
	}
}
