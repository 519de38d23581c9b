-- Refreshes of many people in turn: an answer's token goes to the end of the queue. TOKENS is replaced by the first.
local waiting = { TOKENS }
local first, last = 1, #waiting

function request()
  local token = waiting[first]
  waiting[first], first = nil, first + 1
  return wrk.format("POST", nil, { ["Content-Type"] = "application/json" }, '{"refreshToken":"' .. token .. '"}')
end

function response(status, headers, body)
  last = last + 1
  waiting[last] = string.match(body, '"refreshToken":"([^"]+)"')
end
