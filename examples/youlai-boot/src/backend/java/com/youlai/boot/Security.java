package com.youlai.boot;

import com.youlai.boot.security.token.TokenManager;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.UsernamePasswordAuthenticationFilter;
import org.springframework.web.filter.OncePerRequestFilter;

/** As in the backend: a filter asks the token manager, first whether the token is good, then whose it is. */
@Configuration
@EnableMethodSecurity
class Security {
  @Bean
  SecurityFilterChain filters(HttpSecurity http, TokenManager tokens) {
    return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
        .exceptionHandling(problems -> problems
            .authenticationEntryPoint((request, response, problem) -> answer(response, 401, "A0230"))
            .accessDeniedHandler((request, response, problem) -> answer(response, 403, "A0301")))
        .addFilterBefore(new TokenFilter(tokens), UsernamePasswordAuthenticationFilter.class)
        .sessionManagement(sessions -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
        .csrf(csrf -> csrf.disable())
        .build();
  }

  private static void answer(HttpServletResponse response, int status, String code) throws IOException {
    response.setStatus(status);
    response.setContentType("application/json");
    response.getWriter().write("{\"code\":\"%s\",\"msg\":\"\"}".formatted(code));
  }

  private static final class TokenFilter extends OncePerRequestFilter {
    private final TokenManager tokens;

    TokenFilter(TokenManager tokens) {
      this.tokens = tokens;
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
        throws ServletException, IOException {
      var header = request.getHeader("Authorization");
      if (header != null && header.startsWith("Bearer ")) {
        var token = header.substring("Bearer ".length());
        if (!tokens.validateToken(token)) {
          answer(response, 401, "A0230");
          return;
        }
        SecurityContextHolder.getContext().setAuthentication(tokens.parseToken(token));
      }
      chain.doFilter(request, response);
    }
  }
}
