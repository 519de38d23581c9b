package demo;

import gatehouse.EndedSessions;
import gatehouse.GatehouseJwtDecoder;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.MalformedURLException;
import java.util.stream.Stream;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationConverter;
import org.springframework.security.oauth2.server.resource.web.authentication.BearerTokenAuthenticationFilter;
import org.springframework.security.web.SecurityFilterChain;

/** A resource server: perms are authorities as they stand, roles are authorities with {@code ROLE_} before them. */
@Configuration
@EnableMethodSecurity
class Security {
  @Bean
  JwtDecoder decoder(
      @Value("${gatehouse.url}") String url,
      @Value("${gatehouse.audience:gatehouse}") String audience,
      @Value("${gatehouse.token-type:at+jwt}") String tokenType,
      @Value("${gatehouse.service-key}") String serviceKey)
      throws MalformedURLException, InterruptedException {
    return new GatehouseJwtDecoder(url, audience, tokenType, new EndedSessions(url, serviceKey));
  }

  @Bean
  SecurityFilterChain filters(HttpSecurity http) throws Exception { // Spring Boot 3 declares it, 4 does not
    var authorities = new JwtAuthenticationConverter();
    authorities.setJwtGrantedAuthoritiesConverter(token -> Stream.concat(
            strings(token, "perms"), strings(token, "roles").map(role -> "ROLE_" + role))
        .<GrantedAuthority>map(SimpleGrantedAuthority::new)
        .toList());
    return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
        .oauth2ResourceServer(server -> server.jwt(jwt -> jwt.jwtAuthenticationConverter(authorities))
            .authenticationEntryPoint((request, response, problem) -> {
              response.setHeader("WWW-Authenticate", "Bearer error=\"invalid_token\"");
              answer(response, 401, "A0230", "Please log in");
            })
            .accessDeniedHandler((request, response, problem) -> answer(response, 403, "A0301", "Not allowed")))
        .addFilterBefore((request, response, chain) -> {
          try {
            chain.doFilter(request, response);
          } catch (AuthenticationServiceException unavailable) {
            answer((HttpServletResponse) response, 503, "C0300", "The service is not available, try again in a moment");
          }
        }, BearerTokenAuthenticationFilter.class)
        .sessionManagement(sessions -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
        .csrf(csrf -> csrf.disable()) // no cookie opens anything here
        .build();
  }

  private static Stream<String> strings(Jwt token, String claim) {
    var values = token.getClaimAsStringList(claim);
    return values == null ? Stream.empty() : values.stream();
  }

  private static void answer(HttpServletResponse response, int status, String code, String message)
      throws IOException {
    response.setStatus(status);
    response.setContentType("application/json");
    response.getWriter().write("{\"code\":\"%s\",\"msg\":\"%s\"}".formatted(code, message));
  }
}
