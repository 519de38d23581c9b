package gatehouse;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.factories.DefaultJWSVerifierFactory;
import com.nimbusds.jose.jca.JCAContext;
import com.nimbusds.jose.util.Base64URL;
import java.io.ByteArrayOutputStream;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.spec.X509EncodedKeySpec;
import java.util.HexFormat;
import java.util.Set;

/** Adds EdDSA with the JDK's own Ed25519: Nimbus would need another library for it. */
final class Ed25519VerifierFactory extends DefaultJWSVerifierFactory {
  /** What stands before the 32 bytes of an Ed25519 key in its X.509 form (RFC 8410). */
  private static final byte[] X509 = HexFormat.of().parseHex("302a300506032b6570032100");

  static PublicKey publicKey(byte[] raw) throws GeneralSecurityException {
    var encoded = new ByteArrayOutputStream();
    encoded.writeBytes(X509);
    encoded.writeBytes(raw);
    return KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded.toByteArray()));
  }

  @Override
  public JWSVerifier createJWSVerifier(JWSHeader header, Key key) throws JOSEException {
    return header.getAlgorithm().equals(JWSAlgorithm.EdDSA)
        ? new Verifier((PublicKey) key)
        : super.createJWSVerifier(header, key);
  }

  private record Verifier(PublicKey key) implements JWSVerifier {
    @Override
    public boolean verify(JWSHeader header, byte[] signed, Base64URL signature) throws JOSEException {
      try {
        var ed25519 = Signature.getInstance("Ed25519");
        ed25519.initVerify(key);
        ed25519.update(signed);
        return ed25519.verify(signature.decode());
      } catch (SignatureException malformed) {
        return false;
      } catch (GeneralSecurityException unusable) {
        throw new JOSEException("Ed25519 cannot be used", unusable);
      }
    }

    @Override
    public Set<JWSAlgorithm> supportedJWSAlgorithms() {
      return Set.of(JWSAlgorithm.EdDSA);
    }

    @Override
    public JCAContext getJCAContext() {
      return new JCAContext();
    }
  }
}
