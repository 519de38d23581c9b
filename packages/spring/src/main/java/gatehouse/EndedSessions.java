package gatehouse;

import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.oauth2.core.OAuth2Error;
import org.springframework.security.oauth2.core.OAuth2TokenValidator;
import org.springframework.security.oauth2.core.OAuth2TokenValidatorResult;
import org.springframework.security.oauth2.jwt.Jwt;

/**
 * Follows the sessions that end: a logout is known within a second, and a request costs a look into a map.
 *
 * <p>Gatehouse writes to the stream every second. After {@code maxSilence} without an event the feed is out of date, and
 * a stream that falls so far behind is opened again. Otherwise a thief could cut the connection or hold its events back,
 * and use a stolen token after the logout.
 */
public final class EndedSessions implements OAuth2TokenValidator<Jwt>, AutoCloseable {
  private static final int RECONNECT_MS = 500;
  /** The most that a token is accepted after its expiry. */
  static final Duration MAX_LEEWAY = Duration.ofSeconds(120);

  private static final OAuth2Error ENDED = new OAuth2Error("invalid_token", "The session has ended", null);

  private final Map<String, Double> ended = new ConcurrentHashMap<>();
  private final CountDownLatch caughtUp = new CountDownLatch(1);
  private final String url;
  private final String serviceKey;
  private final Duration maxSilence;
  private final boolean failOpen;
  private final OutageLog outages;
  private final Thread follower = new Thread(this::run, "gatehouse-ended-sessions");
  private final long started = System.nanoTime();
  private String position = "";
  private double keep; // seconds, only ever raised: older tokens may live longer than newer ones
  private double leastLag; // seconds between the two clocks, by the fastest event of this connection
  private volatile double missingBefore;
  private volatile long heard;
  private volatile String problem = "it has not been read yet";
  private volatile boolean closed;

  /** Starts to follow the feed and returns at once, also while Gatehouse cannot be reached. */
  public EndedSessions(String gatehouse, String serviceKey, Duration maxSilence, boolean failOpen) {
    url = gatehouse + "/events/ended-sessions/stream";
    this.serviceKey = serviceKey;
    this.maxSilence = maxSilence;
    this.failOpen = failOpen;
    heard = started - maxSilence.toNanos() - 1;
    outages = new OutageLog("the feed of ended sessions is out of date",
        failOpen ? "tokens are accepted until they expire" : "requests are answered 503");
    follower.setDaemon(true);
    follower.start();
  }

  @Override
  public OAuth2TokenValidatorResult validate(Jwt token) {
    waitUntilRead();
    var session = token.getClaimAsString("sid");
    if (session == null || ended.containsKey(session)) {
      return OAuth2TokenValidatorResult.failure(ENDED);
    }
    if (failOpen) {
      return OAuth2TokenValidatorResult.success();
    }
    if (!isFresh()) {
      throw new AuthenticationServiceException("The feed of ended sessions is out of date: " + problem);
    }
    var issued = token.getIssuedAt();
    return issued == null || issued.getEpochSecond() < missingBefore
        ? OAuth2TokenValidatorResult.failure(ENDED)
        : OAuth2TokenValidatorResult.success();
  }

  boolean isFresh() {
    return System.nanoTime() - heard <= maxSilence.toNanos();
  }

  /** The thread ends with the next event, or when none comes in time. */
  @Override
  public void close() {
    closed = true;
    follower.interrupt();
  }

  /** Until all that ended before the start is known, or {@code maxSilence} has passed without it. */
  private void waitUntilRead() {
    try {
      caughtUp.await(started + maxSilence.toNanos() - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    while (!closed) {
      try {
        follow();
        problem = "the stream has ended";
      } catch (IOException | ParseException | RuntimeException failure) {
        problem = failure.getMessage() == null ? failure.toString() : failure.getMessage();
      }
      if (!isFresh() && !closed) {
        outages.failed(problem);
      }
      try {
        Thread.sleep(RECONNECT_MS);
      } catch (InterruptedException stopped) {
        return;
      }
    }
  }

  private void follow() throws IOException, ParseException {
    var start = position.isEmpty() ? "?after=oldest" : "";
    var connection = (HttpURLConnection) URI.create(url + start).toURL().openConnection();
    connection.setInstanceFollowRedirects(false); // the service key must not be sent to somewhere else
    connection.setConnectTimeout((int) maxSilence.toMillis());
    connection.setReadTimeout((int) maxSilence.toMillis());
    connection.setRequestProperty("Authorization", "Bearer " + serviceKey);
    if (!position.isEmpty()) {
      connection.setRequestProperty("Last-Event-ID", position);
    }
    if (connection.getResponseCode() == HttpURLConnection.HTTP_UNAUTHORIZED) {
      throw new IOException("HTTP 401: check the service key");
    }
    if (connection.getResponseCode() != HttpURLConnection.HTTP_OK) {
      throw new IOException("HTTP " + connection.getResponseCode());
    }
    leastLag = Double.POSITIVE_INFINITY;
    try (var reader = new BufferedReader(new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8))) {
      var event = new HashMap<String, String>();
      for (var line = reader.readLine(); !closed && line != null; line = reader.readLine()) {
        if (!line.isEmpty()) {
          var parts = line.split(": ?", 2);
          event.put(parts[0], parts[parts.length - 1]);
        } else if (event.containsKey("data")) {
          take(event.get("event"), event.get("id"), JSONObjectUtils.parse(event.get("data")));
          event.clear();
        }
      }
    } finally {
      connection.disconnect();
    }
  }

  private void take(String name, String id, Map<String, Object> data) throws IOException {
    switch (name) {
      case "ended" -> ended.put((String) data.get("sid"), number(data, "at"));
      case "gap" -> missingBefore = Math.max(missingBefore, number(data, "missing_before"));
      case "position" -> {
        refuseLate(number(data, "at"));
        keep = Math.max(keep, number(data, "keep"));
        var horizon = Instant.now().getEpochSecond() - keep - MAX_LEEWAY.toSeconds();
        ended.values().removeIf(at -> at < horizon);
        position = id;
        heard = System.nanoTime();
        caughtUp.countDown();
        outages.recovered();
      }
      default -> { } // not known here, not needed
    }
  }

  private void refuseLate(double sent) throws IOException {
    var lag = System.nanoTime() / 1e9 - sent;
    leastLag = Math.min(leastLag, lag);
    if (lag > leastLag + maxSilence.toMillis() / 1e3) {
      throw new IOException("the feed arrives late");
    }
  }

  private static double number(Map<String, Object> data, String name) {
    return ((Number) data.get(name)).doubleValue();
  }
}
