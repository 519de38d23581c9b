-- Logins, each with a captcha of its own. CAPTCHAS is replaced by ids made beforehand.
local captchas = { CAPTCHAS }
local next_one = 0

function request()
  next_one = next_one + 1
  local body = '{"username":"admin","password":"PASSWORD","captchaCode":"ANSWER","captchaId":"' .. (captchas[next_one] or "") .. '"}'
  return wrk.format("POST", nil, { ["Content-Type"] = "application/json" }, body)
end
