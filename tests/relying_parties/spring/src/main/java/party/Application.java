package party;

import static org.springframework.security.config.Customizer.withDefaults;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.client.oidc.web.logout.OidcClientInitiatedLogoutSuccessHandler;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A test gives it the address and an application.yml from the recipe. */
@SpringBootApplication
@RestController
public class Application {
  public static void main(String[] arguments) {
    SpringApplication.run(Application.class, arguments);
  }

  @Bean
  SecurityFilterChain security(HttpSecurity http, ClientRegistrationRepository clients) throws Exception {
    http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated());
    // From here on as the recipe says.
    var atGatehouse = new OidcClientInitiatedLogoutSuccessHandler(clients);
    atGatehouse.setPostLogoutRedirectUri("{baseUrl}/");
    http.oauth2Login(withDefaults())
        .oidcLogout(logout -> logout.backChannel(withDefaults()))
        .logout(logout -> logout.logoutSuccessHandler(atGatehouse));
    return http.build();
  }

  @GetMapping(path = "/", produces = "text/html")
  String home(@AuthenticationPrincipal OidcUser user) {
    return "<h1 id=\"user\">" + user.getName() + "</h1><a href=\"/logout\">Log out</a>";
  }
}
