package com.youlai.boot.security.token;

import com.youlai.boot.security.model.AuthenticationToken;
import com.youlai.boot.security.model.RoleDataScope;
import com.youlai.boot.security.model.SysUserDetails;
import gatehouse.GatehouseJwtDecoder;
import java.util.List;
import java.util.Map;
import org.springframework.context.annotation.Primary;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.oauth2.jwt.BadJwtException;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtException;
import org.springframework.stereotype.Service;

/**
 * Lets youlai-boot take the access tokens of Gatehouse, made with {@code GATEHOUSE_TOKEN_CLAIMS=youlai}.
 *
 * <p><b>Closed where data scopes are missing.</b> That backend filters rows by the data scopes of the user, and shows
 * every row to a user who has none, whose scope is a number that it does not know, or who has no id. So a token
 * without all of them, each of a known kind, is not a good token here.
 */
@Primary
@Service
public class GatehouseTokenManager implements TokenManager {
  private static final int ALL = 1;
  private static final int CHOSEN_DEPARTMENTS = 5;

  private final GatehouseJwtDecoder decoder;

  public GatehouseTokenManager(GatehouseJwtDecoder decoder) {
    this.decoder = decoder;
  }

  @Override
  public boolean validateToken(String token) {
    try {
      parseToken(token);
      return true;
    } catch (JwtException | AuthenticationServiceException refused) {
      return false;
    }
  }

  /** Checks as well: the backend's WebSocket calls it without calling {@link #validateToken} before. */
  @Override
  public Authentication parseToken(String token) {
    var claims = decoder.decode(token);
    var authorities = list(claims, "authorities").stream()
        .map(authority -> new SimpleGrantedAuthority(as(String.class, authority)))
        .toList();
    var user = new SysUserDetails();
    user.setUserId(userId(claims));
    user.setDeptId(whole(claims.getClaim("deptId")));
    user.setUsername(as(String.class, claims.getClaim("username")));
    user.setDataScopes(dataScopes(claims));
    user.setAuthorities(authorities);
    user.setEnabled(true);
    return new UsernamePasswordAuthenticationToken(user, "", authorities);
  }

  /** Gatehouse logs users in. */
  @Override
  public AuthenticationToken generateToken(Authentication authentication) {
    throw new UnsupportedOperationException("Log in at Gatehouse");
  }

  /** Gatehouse renews tokens. */
  @Override
  public AuthenticationToken refreshToken(String token) {
    throw new UnsupportedOperationException("Refresh at Gatehouse");
  }

  @Override
  public boolean validateRefreshToken(String refreshToken) {
    return false;
  }

  private static long userId(Jwt claims) {
    var id = whole(claims.getClaim("userId"));
    if (!String.valueOf(id).equals(claims.getSubject())) {
      throw new BadJwtException("userId is not the subject");
    }
    return id;
  }

  private static List<RoleDataScope> dataScopes(Jwt claims) {
    var scopes = list(claims, "dataScopes").stream().map(each -> dataScope(as(Map.class, each))).toList();
    if (scopes.isEmpty()) {
      throw new BadJwtException("dataScopes is empty");
    }
    return scopes;
  }

  private static RoleDataScope dataScope(Map<?, ?> given) {
    var scope = whole(given.get("dataScope"));
    if (scope < ALL || scope > CHOSEN_DEPARTMENTS) {
      throw new BadJwtException("dataScopes has an unknown scope");
    }
    var departments = given.get("customDeptIds") == null ? List.of() : as(List.class, given.get("customDeptIds"));
    return new RoleDataScope(
        as(String.class, given.get("roleCode")),
        (int) scope,
        ((List<?>) departments).stream().map(GatehouseTokenManager::whole).toList());
  }

  private static List<?> list(Jwt claims, String name) {
    return as(List.class, claims.getClaim(name));
  }

  private static long whole(Object value) {
    return as(Long.class, value);
  }

  /** No conversion: what is of another type than Gatehouse writes was not written by it. */
  private static <T> T as(Class<T> type, Object value) {
    if (!type.isInstance(value)) {
      throw new BadJwtException("a claim is missing or not of the type " + type.getSimpleName());
    }
    return type.cast(value);
  }
}
