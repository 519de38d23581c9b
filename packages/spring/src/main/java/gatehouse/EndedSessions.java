package gatehouse;

import com.nimbusds.jose.util.JSONObjectUtils;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
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
 * <p>Gatehouse writes to the stream every second. After five seconds of silence every request is refused (503), and a
 * stream that falls five seconds behind is opened again. Otherwise a thief could cut the connection or hold its events
 * back, and use a stolen token after the logout.
 */
public final class EndedSessions implements OAuth2TokenValidator<Jwt> {
  private static final int MAX_SILENCE_MS = 5_000;
  private static final OAuth2Error ENDED = new OAuth2Error("invalid_token", "The session has ended", null);

  private final Map<String, Double> ended = new ConcurrentHashMap<>();
  private final CountDownLatch caughtUp = new CountDownLatch(1);
  private final String url;
  private final String serviceKey;
  private String position = "";
  private double keep; // seconds, only ever raised: older tokens may live longer than newer ones
  private double leastLag; // seconds between the two clocks, by the fastest event of this connection
  private volatile double missingBefore;
  private volatile long heard = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(MAX_SILENCE_MS);

  public EndedSessions(String gatehouse, String serviceKey) throws InterruptedException {
    url = gatehouse + "/events/ended-sessions/stream";
    this.serviceKey = serviceKey;
    var follower = new Thread(this::run, "ended-sessions");
    follower.setDaemon(true);
    follower.start();
    caughtUp.await(MAX_SILENCE_MS, TimeUnit.MILLISECONDS);
  }

  @Override
  public OAuth2TokenValidatorResult validate(Jwt token) {
    var session = token.getClaimAsString("sid");
    if (session == null || ended.containsKey(session)) {
      return OAuth2TokenValidatorResult.failure(ENDED);
    }
    if (System.nanoTime() - heard >= TimeUnit.MILLISECONDS.toNanos(MAX_SILENCE_MS)) {
      throw new AuthenticationServiceException("The feed of ended sessions is stale");
    }
    var issued = token.getIssuedAt();
    return issued == null || issued.getEpochSecond() < missingBefore
        ? OAuth2TokenValidatorResult.failure(ENDED)
        : OAuth2TokenValidatorResult.success();
  }

  private void run() {
    while (true) {
      try {
        follow();
      } catch (IOException | ParseException | RuntimeException problem) {
        System.getLogger("gatehouse").log(System.Logger.Level.WARNING, "ended sessions: {0}", problem.toString());
      }
      try {
        Thread.sleep(500);
      } catch (InterruptedException stopped) {
        return;
      }
    }
  }

  private void follow() throws IOException, ParseException {
    var start = position.isEmpty() ? "?after=oldest" : "";
    var connection = (HttpURLConnection) URI.create(url + start).toURL().openConnection();
    connection.setConnectTimeout(MAX_SILENCE_MS);
    connection.setReadTimeout(MAX_SILENCE_MS);
    connection.setRequestProperty("Authorization", "Bearer " + serviceKey);
    if (!position.isEmpty()) {
      connection.setRequestProperty("Last-Event-ID", position);
    }
    if (connection.getResponseCode() == HttpURLConnection.HTTP_UNAUTHORIZED) {
      throw new IOException("Gatehouse answers 401: check the service key");
    }
    leastLag = Double.POSITIVE_INFINITY;
    try (var reader = new BufferedReader(new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8))) {
      var event = new HashMap<String, String>();
      for (var line = reader.readLine(); line != null; line = reader.readLine()) {
        if (!line.isEmpty()) {
          var parts = line.split(": ", 2);
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
        var horizon = Instant.now().getEpochSecond() - keep;
        ended.values().removeIf(at -> at < horizon);
        position = id;
        heard = System.nanoTime();
        caughtUp.countDown();
      }
      default -> { } // not known here, not needed
    }
  }

  private void refuseLate(double sent) throws IOException {
    var lag = System.nanoTime() / 1e9 - sent;
    leastLag = Math.min(leastLag, lag);
    if (lag > leastLag + MAX_SILENCE_MS / 1e3) {
      throw new IOException("the feed arrives late");
    }
  }

  private static double number(Map<String, Object> data, String name) {
    return ((Number) data.get(name)).doubleValue();
  }
}
