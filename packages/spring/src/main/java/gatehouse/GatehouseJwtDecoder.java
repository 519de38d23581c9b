package gatehouse;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.BadJWTException;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import java.security.PublicKey;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.springframework.security.oauth2.jwt.BadJwtException;
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
  private static final int MAX_TOKEN_LENGTH = 4096;

  private final KeySet keys;
  private final NimbusJwtDecoder decoder;

  public GatehouseJwtDecoder(GatehouseProperties options, EndedSessions ended) {
    keys = new KeySet(options.url() + "/.well-known/jwks.json", ended::isFresh);
    var processor = new DefaultJWTProcessor<>();
    processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(new JOSEObjectType(options.tokenType())));
    processor.setJWSKeySelector(this::keyOf);
    processor.setJWSVerifierFactory(new Ed25519VerifierFactory());
    processor.setJWTClaimsSetVerifier(new Claims(options));
    decoder = new NimbusJwtDecoder(processor);
    decoder.setJwtValidator(ended);
  }

  @Override
  public Jwt decode(String token) throws JwtException {
    if (token.length() > MAX_TOKEN_LENGTH) {
      throw new BadJwtException("longer than any access token");
    }
    return decoder.decode(token);
  }

  /** The key that the token names, if it is meant for the token's algorithm. The token has no other say in it. */
  private List<PublicKey> keyOf(JWSHeader header, SecurityContext context) throws KeySourceException {
    if (header.getKeyID() == null || header.getCriticalParams() != null) {
      return List.of();
    }
    var key = keys.find(header.getKeyID());
    return key != null && key.algorithm().equals(header.getAlgorithm()) ? List.of(key.key()) : List.of();
  }

  private static final class Claims extends DefaultJWTClaimsVerifier<SecurityContext> {
    Claims(GatehouseProperties options) {
      super(
          options.audience(),
          new JWTClaimsSet.Builder().issuer(options.issuer()).build(),
          Set.of("exp", "iat", "sub", "sid"));
      setMaxClockSkew((int) options.leeway().toSeconds());
    }

    /** The library asks only whether a name is there: a claim may still be null. */
    @Override
    public void verify(JWTClaimsSet claims, SecurityContext context) throws BadJWTException {
      super.verify(claims, context);
      var latest = Instant.now().plusSeconds(getMaxClockSkew());
      if (claims.getExpirationTime() == null
          || claims.getIssueTime() == null
          || claims.getIssueTime().toInstant().isAfter(latest)
          || !(claims.getClaim("sid") instanceof String sid && !sid.isEmpty())
          || !(claims.getClaim("sub") instanceof String sub && sub.matches("\\d{1,18}"))) {
        throw new BadJWTException("exp, iat, sid or sub is not of the right form");
      }
    }
  }
}
