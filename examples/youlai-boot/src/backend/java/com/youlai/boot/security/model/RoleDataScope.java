package com.youlai.boot.security.model;

import java.util.List;

/** Which rows one role shows. */
public class RoleDataScope {
  private final String roleCode;
  private final Integer dataScope;
  private final List<Long> customDeptIds;

  public RoleDataScope(String roleCode, Integer dataScope, List<Long> customDeptIds) {
    this.roleCode = roleCode;
    this.dataScope = dataScope;
    this.customDeptIds = customDeptIds;
  }

  public String getRoleCode() {
    return roleCode;
  }

  public Integer getDataScope() {
    return dataScope;
  }

  public List<Long> getCustomDeptIds() {
    return customDeptIds;
  }
}
