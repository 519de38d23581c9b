package com.youlai.boot.security.model;

/** The adapter makes none: Gatehouse does. */
public class AuthenticationToken {}
