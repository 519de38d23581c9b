package gatehouse;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings under {@code gatehouse}.
 *
 * @param url the address of Gatehouse as this service reaches it
 * @param serviceKey from {@code gatehouse service-key add NAME}
 * @param issuer what tokens name as their issuer: GATEHOUSE_ISSUER; the address unless set
 * @param audience GATEHOUSE_AUDIENCE
 * @param tokenType GATEHOUSE_TOKEN_TYPE
 * @param leeway by which clocks may differ, at most 120 s
 * @param maxSilence after which the feed of ended sessions is out of date, at least 2 s
 * @param failOpen accept tokens until they expire while the feed is out of date; otherwise requests are answered 503
 * @param allowHttp allow plain http to another machine, on a network that you trust
 * @param publicPaths patterns of paths that need no token
 */
@ConfigurationProperties("gatehouse")
public record GatehouseProperties(
    String url,
    String serviceKey,
    String issuer,
    @DefaultValue("gatehouse") String audience,
    @DefaultValue("at+jwt") String tokenType,
    @DefaultValue("10s") Duration leeway,
    @DefaultValue("5s") Duration maxSilence,
    @DefaultValue("false") boolean failOpen,
    @DefaultValue("false") boolean allowHttp,
    @DefaultValue List<String> publicPaths) {

  public GatehouseProperties {
    require(url != null && !url.isBlank(), "gatehouse.url is not set: the address of Gatehouse");
    require(serviceKey != null && !serviceKey.isBlank(),
        "gatehouse.service-key is not set: make one with `gatehouse service-key add NAME`");
    require(!leeway.isNegative() && leeway.compareTo(EndedSessions.MAX_LEEWAY) <= 0,
        "gatehouse.leeway: expected 0 to 120 s");
    require(maxSilence.toSeconds() >= 2, "gatehouse.max-silence: expected at least 2 s");
    require(allowHttp || isHttpsOrLocal(URI.create(url)),
        "gatehouse.url is not https: on a network that you trust, set gatehouse.allow-http=true");
    issuer = issuer == null || issuer.isBlank() ? url : issuer;
    url = url.replaceAll("/+$", "");
  }

  /** Whoever can change an answer decides which tokens are valid, so plain http is for the same machine only. */
  private static boolean isHttpsOrLocal(URI url) {
    var host = String.valueOf(url.getHost());
    try {
      // Only addresses and localhost: a name is not looked up.
      return "https".equals(url.getScheme())
          || host.equals("localhost")
          || host.matches("[\\d.]+|\\[.*]") && InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException unknown) {
      return false;
    }
  }

  private static void require(boolean condition, String otherwise) {
    if (!condition) {
      throw new IllegalArgumentException(otherwise);
    }
  }
}
