package gatehouse;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.jwk.source.RateLimitReachedException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.BadJWTException;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import java.net.MalformedURLException;
import java.net.URI;
import java.security.Key;
import java.util.List;
import java.util.Set;
import org.springframework.security.oauth2.core.OAuth2TokenValidator;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtException;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;

/**
 * Decodes access tokens of Gatehouse: type, key, signature, issuer, audience, expiry, session.
 *
 * <p>Spring's own decoder refuses the type {@code at+jwt}, knows no EdDSA, and takes a token without {@code kid}.
 */
public final class GatehouseJwtDecoder implements JwtDecoder {
  private static final Set<JWSAlgorithm> ALGORITHMS =
      Set.of(JWSAlgorithm.ES256, JWSAlgorithm.EdDSA, JWSAlgorithm.RS256);

  private final JWKSource<SecurityContext> keys;
  private final NimbusJwtDecoder decoder;

  public GatehouseJwtDecoder(
      String gatehouse, String audience, String tokenType, OAuth2TokenValidator<Jwt> sessions)
      throws MalformedURLException {
    // Kept for five minutes; fetched anew for an unknown key, at most once a second; used for an hour in an outage.
    keys = JWKSourceBuilder.<SecurityContext>create(URI.create(gatehouse + "/.well-known/jwks.json").toURL())
        .rateLimited(1_000)
        .outageTolerant(3_600_000)
        .build();

    var processor = new DefaultJWTProcessor<>();
    processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(new JOSEObjectType(tokenType)));
    processor.setJWSKeySelector(this::keyOf);
    processor.setJWSVerifierFactory(new Ed25519VerifierFactory());
    processor.setJWTClaimsSetVerifier(new Claims(gatehouse, audience));
    decoder = new NimbusJwtDecoder(processor);
    decoder.setJwtValidator(sessions);
  }

  @Override
  public Jwt decode(String token) throws JwtException {
    return decoder.decode(token);
  }

  /** The key that the token names, if it is meant for the token's algorithm. The token has no other say in it. */
  private List<? extends Key> keyOf(JWSHeader header, SecurityContext context) throws KeySourceException {
    if (header.getKeyID() == null || header.getCriticalParams() != null) {
      return List.of();
    }
    var named = new JWKMatcher.Builder().keyID(header.getKeyID()).keyUse(KeyUse.SIGNATURE).build();
    try {
      for (JWK key : keys.get(new JWKSelector(named), context)) {
        if (ALGORITHMS.contains(header.getAlgorithm()) && header.getAlgorithm().equals(key.getAlgorithm())) {
          return List.of(Ed25519VerifierFactory.toKey(key));
        }
      }
    } catch (RateLimitReachedException unknown) {
      return List.of(); // the keys were fetched a moment ago, and this one was not among them
    }
    return List.of();
  }

  private static final class Claims extends DefaultJWTClaimsVerifier<SecurityContext> {
    Claims(String issuer, String audience) {
      super(audience, new JWTClaimsSet.Builder().issuer(issuer).build(), Set.of("exp", "sub", "sid"));
      setMaxClockSkew(10);
    }

    /** The library asks only whether a name is there: a claim may still be null. */
    @Override
    public void verify(JWTClaimsSet claims, SecurityContext context) throws BadJWTException {
      super.verify(claims, context);
      if (claims.getExpirationTime() == null
          || !(claims.getClaim("sid") instanceof String sid && !sid.isEmpty())
          || !(claims.getClaim("sub") instanceof String sub && sub.matches("\\d{1,18}"))) {
        throw new BadJWTException("exp, sid or sub is not of the right form");
      }
    }
  }
}
