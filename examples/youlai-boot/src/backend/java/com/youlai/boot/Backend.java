package com.youlai.boot;

import com.youlai.boot.security.model.SysUserDetails;
import java.util.Map;
import java.util.Set;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** The part of youlai-boot that the adapter meets, in a few lines, so that it can be run here. */
@SpringBootApplication
@RestController
public class Backend {
  public static void main(String[] arguments) {
    SpringApplication.run(Backend.class, arguments);
  }

  @GetMapping("/hello")
  Map<String, Object> hello(@AuthenticationPrincipal SysUserDetails user) {
    return Map.of(
        "userId", user.getUserId(),
        "deptId", user.getDeptId(),
        "username", user.getUsername(),
        "dataScopes", user.getDataScopes());
  }

  @PostMapping("/users")
  @PreAuthorize("@ss.hasPerm('sys:user:add')")
  Map<String, Object> addUser(@AuthenticationPrincipal SysUserDetails user) {
    return Map.of("addedBy", user.getUsername());
  }

  /** The backend knows from its own tables what a role allows. */
  @Component("ss")
  static class Perms {
    private static final Map<String, Set<String>> OF_ROLE =
        Map.of("ROLE_ADMIN", Set.of("sys:user:add"), "ROLE_EDITOR", Set.of("sys:user:add"));

    public boolean hasPerm(String perm) {
      return SecurityContextHolder.getContext().getAuthentication().getAuthorities().stream()
          .anyMatch(role -> OF_ROLE.getOrDefault(role.getAuthority(), Set.of()).contains(perm));
    }
  }
}
