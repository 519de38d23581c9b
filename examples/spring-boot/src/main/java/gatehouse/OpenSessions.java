package gatehouse;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.oauth2.core.OAuth2Error;
import org.springframework.security.oauth2.core.OAuth2TokenValidator;
import org.springframework.security.oauth2.core.OAuth2TokenValidatorResult;
import org.springframework.security.oauth2.jwt.Jwt;
import tools.jackson.databind.json.JsonMapper;

/** Asks Gatehouse about the session of each token, so a logout counts at once. Fails closed: no answer, no entry. */
public final class OpenSessions implements OAuth2TokenValidator<Jwt> {
  private static final OAuth2Error ENDED = new OAuth2Error("invalid_token", "The session has ended", null);

  private final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
  private final JsonMapper json = JsonMapper.shared();
  private final HttpRequest.Builder question;

  public OpenSessions(String gatehouse, String serviceKey) {
    question = HttpRequest.newBuilder(URI.create(gatehouse + "/oauth2/introspect"))
        .timeout(Duration.ofSeconds(3))
        .header("Authorization", "Bearer " + serviceKey)
        .header("Content-Type", "application/x-www-form-urlencoded");
  }

  @Override
  public OAuth2TokenValidatorResult validate(Jwt token) {
    return isOpen(token.getTokenValue())
        ? OAuth2TokenValidatorResult.success()
        : OAuth2TokenValidatorResult.failure(ENDED);
  }

  private boolean isOpen(String token) {
    var form = "token=" + URLEncoder.encode(token, StandardCharsets.UTF_8);
    try {
      var answer = http.send(
          question.copy().POST(HttpRequest.BodyPublishers.ofString(form)).build(), BodyHandlers.ofString());
      if (answer.statusCode() == 200) {
        return json.readTree(answer.body()).path("active").asBoolean(false);
      }
      throw new AuthenticationServiceException("Gatehouse answers " + answer.statusCode() + " to introspection");
    } catch (IOException away) {
      throw new AuthenticationServiceException("Gatehouse cannot be asked", away);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new AuthenticationServiceException("Stopped while asking Gatehouse", stopped);
    }
  }
}
