package demo;

import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@RestController
public class Application {
  public static void main(String[] arguments) {
    SpringApplication.run(Application.class, arguments);
  }

  @GetMapping("/health")
  Map<String, Object> health() {
    return Map.of("status", "up");
  }

  @GetMapping("/hello")
  Map<String, Object> hello(@AuthenticationPrincipal Jwt token) {
    return Map.of("userId", Long.valueOf(token.getSubject()));
  }

  @PostMapping("/users")
  @PreAuthorize("hasAuthority('sys:user:add')")
  Map<String, Object> addUser(@AuthenticationPrincipal Jwt token) {
    return Map.of("addedBy", token.getSubject());
  }
}
