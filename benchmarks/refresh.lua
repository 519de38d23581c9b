-- Refreshes chained as a client chains them: every answer's token is the next request's.
-- TOKENS is replaced by the starting tokens, one for each connection and a few spare.
local waiting = { TOKENS }

function request()
  local token = table.remove(waiting) or "none"
  return wrk.format("POST", nil, { ["Content-Type"] = "application/json" }, '{"refreshToken":"' .. token .. '"}')
end

function response(status, headers, body)
  local token = string.match(body, '"refreshToken":"([^"]+)"')
  if token then table.insert(waiting, token) end
end
