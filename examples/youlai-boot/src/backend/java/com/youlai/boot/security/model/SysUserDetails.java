package com.youlai.boot.security.model;

import java.util.Collection;
import java.util.List;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.core.userdetails.UserDetails;

/** The principal that youlai-boot looks for in the security context. */
public class SysUserDetails implements UserDetails {
  private Long userId;
  private Long deptId;
  private String username;
  private Boolean enabled;
  private List<RoleDataScope> dataScopes;
  private Collection<SimpleGrantedAuthority> authorities;

  public Long getUserId() {
    return userId;
  }

  public void setUserId(Long userId) {
    this.userId = userId;
  }

  public Long getDeptId() {
    return deptId;
  }

  public void setDeptId(Long deptId) {
    this.deptId = deptId;
  }

  @Override
  public String getUsername() {
    return username;
  }

  public void setUsername(String username) {
    this.username = username;
  }

  @Override
  public boolean isEnabled() {
    return enabled;
  }

  public void setEnabled(Boolean enabled) {
    this.enabled = enabled;
  }

  public List<RoleDataScope> getDataScopes() {
    return dataScopes;
  }

  public void setDataScopes(List<RoleDataScope> dataScopes) {
    this.dataScopes = dataScopes;
  }

  @Override
  public Collection<SimpleGrantedAuthority> getAuthorities() {
    return authorities;
  }

  public void setAuthorities(Collection<SimpleGrantedAuthority> authorities) {
    this.authorities = authorities;
  }

  @Override
  public String getPassword() {
    return null;
  }
}
