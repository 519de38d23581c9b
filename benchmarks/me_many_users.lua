-- users/me for many people in turn. TOKENS is replaced by their access tokens.
local tokens = { TOKENS }
local next_one = 0

function request()
  next_one = next_one % #tokens + 1
  return wrk.format("GET", nil, { ["Authorization"] = "Bearer " .. tokens[next_one] })
end
