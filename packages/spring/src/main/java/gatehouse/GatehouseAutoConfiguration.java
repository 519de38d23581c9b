package gatehouse;

import jakarta.servlet.DispatcherType;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.web.SecurityFilterChain;

/**
 * Every request needs a good token, except for the public paths. An application that has a {@link SecurityFilterChain}
 * of its own keeps it, and may build it with {@link GatehouseResourceServer}.
 *
 * <p>It comes before Spring Boot's own configurations, which would otherwise make a login form.
 */
@AutoConfiguration
@AutoConfigureOrder(Ordered.HIGHEST_PRECEDENCE)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@EnableConfigurationProperties(GatehouseProperties.class)
@EnableMethodSecurity // without it @PreAuthorize would be ignored
public class GatehouseAutoConfiguration {
  @Bean
  EndedSessions gatehouseEndedSessions(GatehouseProperties options) {
    return new EndedSessions(options.url(), options.serviceKey(), options.maxSilence(), options.failOpen());
  }

  @Bean
  @ConditionalOnMissingBean(JwtDecoder.class)
  GatehouseJwtDecoder gatehouseJwtDecoder(GatehouseProperties options, EndedSessions ended) {
    return new GatehouseJwtDecoder(options, ended);
  }

  @Bean
  GatehouseResourceServer gatehouseResourceServer(JwtDecoder decoder) {
    return new GatehouseResourceServer(decoder);
  }

  @Bean
  @ConditionalOnMissingBean(SecurityFilterChain.class)
  SecurityFilterChain gatehouseFilterChain(
      HttpSecurity http, GatehouseResourceServer gatehouse, GatehouseProperties options) throws Exception {
    var publicPaths = options.publicPaths().toArray(String[]::new);
    return gatehouse.apply(http)
        .authorizeHttpRequests(requests -> {
          requests.dispatcherTypeMatchers(DispatcherType.ERROR).permitAll(); // otherwise a 404 of a public path is a 401
          if (publicPaths.length > 0) {
            requests.requestMatchers(publicPaths).permitAll();
          }
          requests.anyRequest().authenticated();
        })
        .build();
  }
}
