-- Advance a session by one generation, if it still is the one that was presented and the session is live.
--   keys  the user's sessions and epoch; rates to count this under, before anything else
--   in    id, generation, now, new end, how long an ended one is kept; two numbers for each rate
--   out   the seconds to wait, as text, if a rate is exceeded; nothing if there is no such session;
--         else whether it was rotated, the session, the epoch
local user = KEYS[1]
local id, presented, now, kept_seconds = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[5])

for i = 2, #KEYS do
  local wait = count_event(KEYS[i], now, tonumber(ARGV[2 * i + 2]), tonumber(ARGV[2 * i + 3]))
  if wait then return wait end
end

local found = redis.call('HMGET', user, id, 'epoch')
local session, epoch = found[1], found[2]
if not session then return false end

local generation, opened, ends, absolute_end, origin =
  string.match(session, '^(%S+) (%S+) %S+ (%S+) (%S+) (.*)$')
if generation ~= presented or tonumber(ends) <= now then return { 0, session, epoch } end

-- Times stay the text they came as: printing a number here could round it.
local new_ends = ARGV[4]
if tonumber(absolute_end) < tonumber(new_ends) then new_ends = absolute_end end
session = table.concat({ string.format('%.0f', generation + 1), opened, ARGV[3], new_ends, absolute_end, origin }, ' ')
redis.call('HSET', user, id, session)
local life = math.ceil(tonumber(new_ends) - now + kept_seconds)
if redis.call('TTL', user) < life then redis.call('EXPIRE', user, life) end
return { 1, session, epoch }
