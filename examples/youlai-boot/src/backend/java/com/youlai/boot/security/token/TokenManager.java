package com.youlai.boot.security.token;

import com.youlai.boot.security.model.AuthenticationToken;
import org.springframework.security.core.Authentication;

/** The operations of the interface of that name in youlai-boot 4. */
public interface TokenManager {
  AuthenticationToken generateToken(Authentication authentication);

  Authentication parseToken(String token);

  boolean validateToken(String token);

  boolean validateRefreshToken(String refreshToken);

  AuthenticationToken refreshToken(String token);

  default void invalidateToken(String token) {}

  default void invalidateUserSessions(Long userId) {}
}
