-- Prepended to the scripts that end sessions. Adds to the log of ended sessions (a stream), if its key is given: on a
-- Cluster the log lives in another slot than the user, and is written by a second call.
--   in    the arguments from `first` on: time, reason, most entries, seconds that an entry may matter, 1 if the user's
--         credential changed; none of them: nothing is logged
-- The ids are times of this server, so what may be trimmed is decided by its clock, too.
local function record_ended(session, first)
  if not KEYS[2] or not ARGV[first] then return end
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[first + 2], '*', 's', session, 'a', ARGV[first], 'r', ARGV[first + 1])
  local oldest = redis.call('TIME')[1] - ARGV[first + 3]
  redis.call('XTRIM', KEYS[2], 'MINID', '~', string.format('%.0f-0', oldest * 1000))
  redis.call('EXPIRE', KEYS[2], ARGV[first + 3])
end
-- The same for a session that has not ended by time before.
local function record_early_end(id, session, first)
  local ends = string.match(session, '^%S+ %S+ %S+ (%S+)')
  if ARGV[first] and tonumber(ends) > tonumber(ARGV[first]) then record_ended(id, first) end
end
