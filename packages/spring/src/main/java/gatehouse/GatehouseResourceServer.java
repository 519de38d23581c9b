package gatehouse;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.stream.Stream;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationConverter;
import org.springframework.security.oauth2.server.resource.web.authentication.BearerTokenAuthenticationFilter;

/**
 * Makes a filter chain accept the tokens of Gatehouse: perms are authorities as they stand, roles are authorities with
 * {@code ROLE_} before them. Refusals have the envelope that consoles of the vue3-element-admin family act on.
 */
public final class GatehouseResourceServer {
  private final JwtDecoder decoder;

  public GatehouseResourceServer(JwtDecoder decoder) {
    this.decoder = decoder;
  }

  /** For a chain of your own: {@code gatehouse.apply(http).authorizeHttpRequests(...).build()}. */
  public HttpSecurity apply(HttpSecurity http) throws Exception {
    var authorities = new JwtAuthenticationConverter();
    authorities.setJwtGrantedAuthoritiesConverter(token -> Stream.concat(
            strings(token, "perms"), strings(token, "roles").map(role -> "ROLE_" + role))
        .<GrantedAuthority>map(SimpleGrantedAuthority::new)
        .toList());
    return http.oauth2ResourceServer(server -> server
            .jwt(jwt -> jwt.decoder(decoder).jwtAuthenticationConverter(authorities))
            .authenticationEntryPoint((request, response, problem) -> {
              response.setHeader("WWW-Authenticate", "Bearer error=\"invalid_token\"");
              answer(response, 401, "A0230", "Please log in");
            })
            .accessDeniedHandler((request, response, problem) -> {
              response.setHeader("WWW-Authenticate", "Bearer error=\"insufficient_scope\"");
              answer(response, 403, "A0301", "Not allowed");
            }))
        // Spring would answer 401, and people would be logged out by an outage.
        .addFilterBefore((request, response, chain) -> {
          try {
            chain.doFilter(request, response);
          } catch (AuthenticationServiceException unavailable) {
            ((HttpServletResponse) response).setHeader("Retry-After", "2");
            answer((HttpServletResponse) response, 503, "C0300", "The service is not available, try again in a moment");
          }
        }, BearerTokenAuthenticationFilter.class)
        .sessionManagement(sessions -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
        .csrf(csrf -> csrf.disable()); // no cookie opens anything here
  }

  private static Stream<String> strings(Jwt token, String claim) {
    var values = token.getClaimAsStringList(claim);
    return values == null ? Stream.empty() : values.stream();
  }

  private static void answer(HttpServletResponse response, int status, String code, String message)
      throws IOException {
    response.setStatus(status);
    response.setContentType("application/json");
    response.setHeader("Cache-Control", "no-store");
    response.getWriter().write("{\"code\":\"%s\",\"msg\":\"%s\"}".formatted(code, message));
  }
}
