package gatehouse;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;

/** Says when something stops working and when it works again: not at each try, once a minute between. */
final class OutageLog {
  private static final Logger LOG = System.getLogger("gatehouse");

  private final String what;
  private final String consequence;
  private boolean failing;
  private long lastWarning;

  OutageLog(String what, String consequence) {
    this.what = what;
    this.consequence = consequence;
  }

  synchronized void failed(String reason) {
    var now = System.nanoTime();
    if (failing && now - lastWarning < TimeUnit.MINUTES.toNanos(1)) {
      return;
    }
    failing = true;
    lastWarning = now;
    LOG.log(Level.WARNING, "gatehouse: {0}: {1}; {2}", what, reason, consequence);
  }

  synchronized void recovered() {
    if (failing) {
      LOG.log(Level.WARNING, "gatehouse: {0}: works again", what);
    }
    failing = false;
  }
}
