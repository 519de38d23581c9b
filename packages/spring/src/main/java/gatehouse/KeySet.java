package gatehouse;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.AsymmetricJWK;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.OctetKeyPair;
import com.nimbusds.jose.jwk.RSAKey;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.text.ParseException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * The public keys of Gatehouse: fetched when needed, cached, and fetched again at a bounded rate.
 *
 * <ul>
 *   <li>A key that is known and fresh is used without a request.
 *   <li>After five minutes the set is fetched again, so that a retired key is forgotten. In an outage it is used for an
 *       hour more.
 *   <li>A {@code kid} that is not known causes a fetch, at most one a second, whatever forged tokens arrive.
 * </ul>
 */
final class KeySet {
  private static final long MAX_AGE = TimeUnit.MINUTES.toNanos(5);
  private static final long STALE_FOR = TimeUnit.HOURS.toNanos(1);
  private static final long MIN_INTERVAL = TimeUnit.SECONDS.toNanos(1);
  private static final int TIMEOUT_MS = 3_000;
  private static final int MAX_KEYS = 100;
  private static final int MAX_ANSWER_BYTES = 256 * 1024;
  private static final int MIN_RSA_BITS = 2048;

  record VerificationKey(JWSAlgorithm algorithm, PublicKey key) {}

  /** What one fetch has brought; {@code problem} is of the last try, which may be a later one. */
  private record Known(Map<String, VerificationKey> keys, long fetched, long tried, String problem) {}

  private final String url;
  private final BooleanSupplier feedIsFresh;
  private final OutageLog outages =
      new OutageLog("the public keys cannot be fetched", "known ones are used for 65 minutes");
  private volatile Known known;

  /** While the feed is out of date as well, its lines in the log say all there is to say. */
  KeySet(String url, BooleanSupplier feedIsFresh) {
    this.url = url;
    this.feedIsFresh = feedIsFresh;
    var longAgo = System.nanoTime() - MAX_AGE - STALE_FOR;
    known = new Known(Map.of(), longAgo, longAgo, null);
  }

  /**
   * The key, or null if Gatehouse has no such key.
   *
   * @throws KeySourceException if that cannot be found out
   */
  VerificationKey find(String kid) throws KeySourceException {
    if (!isCurrent(kid)) {
      update(kid);
    }
    var now = known;
    var key = System.nanoTime() - now.fetched < MAX_AGE + STALE_FOR ? now.keys.get(kid) : null;
    if (key == null && now.problem != null) {
      throw new KeySourceException("The public keys cannot be fetched: " + now.problem);
    }
    return key;
  }

  /** Whether no fetch is needed, or none is allowed yet. */
  private boolean isCurrent(String kid) {
    var now = System.nanoTime();
    return known.keys.containsKey(kid) && now - known.fetched < MAX_AGE || now - known.tried < MIN_INTERVAL;
  }

  private synchronized void update(String kid) {
    if (isCurrent(kid)) {
      return; // another thread has just fetched them
    }
    // The times are those of the end, so that a service which fails slowly is not asked without pause.
    try {
      var keys = read(fetch());
      known = new Known(keys, System.nanoTime(), System.nanoTime(), null);
      outages.recovered();
    } catch (IOException | ParseException | JOSEException | GeneralSecurityException | RuntimeException problem) {
      known = new Known(known.keys, known.fetched, System.nanoTime(), problem.toString());
      if (feedIsFresh.getAsBoolean()) {
        outages.failed(problem.toString());
      }
    }
  }

  private String fetch() throws IOException {
    var connection = (HttpURLConnection) URI.create(url).toURL().openConnection();
    connection.setInstanceFollowRedirects(false);
    connection.setConnectTimeout(TIMEOUT_MS);
    connection.setReadTimeout(TIMEOUT_MS);
    if (connection.getResponseCode() != HttpURLConnection.HTTP_OK) {
      throw new IOException(url + " answered HTTP " + connection.getResponseCode());
    }
    try (var answer = connection.getInputStream()) {
      return new String(answer.readNBytes(MAX_ANSWER_BYTES), StandardCharsets.UTF_8);
    }
  }

  /** The keys of a JWKS that can sign access tokens; others are passed over. */
  private static Map<String, VerificationKey> read(String answer)
      throws ParseException, JOSEException, GeneralSecurityException {
    var set = JWKSet.parse(answer).getKeys();
    if (set.size() > MAX_KEYS) {
      throw new ParseException("too many keys", 0);
    }
    var keys = new HashMap<String, VerificationKey>();
    for (var jwk : set) {
      var algorithm = algorithmOf(jwk);
      var isForSignatures = jwk.getKeyUse() == null || jwk.getKeyUse().equals(KeyUse.SIGNATURE);
      var isForThisAlgorithm = jwk.getAlgorithm() == null || jwk.getAlgorithm().equals(algorithm);
      if (jwk.getKeyID() != null && algorithm != null && isForSignatures && isForThisAlgorithm) {
        keys.put(jwk.getKeyID(), new VerificationKey(algorithm, publicKey(jwk)));
      }
    }
    return keys;
  }

  private static JWSAlgorithm algorithmOf(JWK jwk) {
    if (jwk instanceof ECKey key && key.getCurve().equals(Curve.P_256)) {
      return JWSAlgorithm.ES256;
    }
    if (jwk instanceof OctetKeyPair key && key.getCurve().equals(Curve.Ed25519)) {
      return JWSAlgorithm.EdDSA;
    }
    return jwk instanceof RSAKey key && key.size() >= MIN_RSA_BITS ? JWSAlgorithm.RS256 : null;
  }

  private static PublicKey publicKey(JWK jwk) throws JOSEException, GeneralSecurityException {
    return jwk instanceof OctetKeyPair pair
        ? Ed25519VerifierFactory.publicKey(pair.getDecodedX())
        : ((AsymmetricJWK) jwk).toPublicKey();
  }
}
