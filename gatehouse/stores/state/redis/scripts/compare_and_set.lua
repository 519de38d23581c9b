-- Replace the text under a key if it is the one that is expected.
--   keys  the text, behind the time at which it expires
--   in    the expected text, 1 if there must be one and 0 if there must be none, the new text, its expiry, now,
--         seconds until the server may forget it
--   out   1 if the new text was stored
local stored = redis.call('GET', KEYS[1])
local current = nil
if stored then
  local expires, text = string.match(stored, '^(%S+) (.*)$')
  if tonumber(expires) > tonumber(ARGV[5]) then current = text end
end
local expected = nil
if ARGV[2] == '1' then expected = ARGV[1] end
if current ~= expected then return 0 end
redis.call('SET', KEYS[1], ARGV[4] .. ' ' .. ARGV[3], 'EX', ARGV[6])
return 1
