-- 200 clients, each from its own address and with its own name: a captcha, a login with a wrong password, and again.
-- The ids are captchas of this service, so that logins get as far as they can.
local ids = { CAPTCHAS }
local clients = CLIENTS
local at = 0
counts = {}

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function request()
  at = at + 1
  local who = math.floor(at / 2) % clients
  local headers = {
    ["Content-Type"] = "application/json",
    ["X-Forwarded-For"] = "198.51." .. math.floor(who / 250) .. "." .. (who % 250 + 1),
  }
  if at % 2 == 0 then
    return wrk.format("GET", "/api/v1/auth/captcha", headers)
  end
  local id = ids[math.floor(at / 2) % #ids + 1]
  local body = '{"username":"name' .. who .. '","password":"wrong","captchaId":"' .. id .. '","captchaCode":"ANSWER"}'
  return wrk.format("POST", "/api/v1/auth/login", headers, body)
end

function response(status)
  counts[tostring(status)] = (counts[tostring(status)] or 0) + 1
end

function done()
  for _, thread in ipairs(threads) do
    for status, count in pairs(thread:get("counts")) do
      print("answered " .. status .. " " .. count)
    end
  end
end
