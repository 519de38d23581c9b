package verify

import (
	"log/slog"
	"sync"
	"time"
)

// outageLog says when something stops working and when it works again: not at each try, once a minute between.
type outageLog struct {
	logger            *slog.Logger
	what, consequence string

	lock        sync.Mutex
	lastWarning time.Time
}

func (o *outageLog) failed(reason error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	if time.Since(o.lastWarning) < time.Minute {
		return
	}
	o.lastWarning = time.Now()
	o.logger.Warn("gatehouse: "+o.what+": "+reason.Error(), "consequence", o.consequence)
}

func (o *outageLog) recovered() {
	o.lock.Lock()
	defer o.lock.Unlock()
	if o.lastWarning.IsZero() {
		return
	}
	o.lastWarning = time.Time{}
	o.logger.Warn("gatehouse: " + o.what + ": works again")
}
