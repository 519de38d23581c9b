-- Advance a session by one generation, if it still is the one that was presented and the session is live. End it if what
-- was presented is reused: `is_reused` of refresh_reuse.py; a property test holds the two together.
--   keys  the user's sessions and epoch, the log of ended sessions
--   in    id, generation, now, new end, how long an ended one is kept; the grace window and the arguments of
--         `record_ended`, or none of these
--   out   nothing if there is no such session; else 1 if it was rotated, 2 if it was ended, 0; the session, the epoch
local GRACE, FIRST_OF_RECORD = 6, 7
local user = KEYS[1]
local id, presented, now, kept_seconds = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[5])

local found = redis.call('HMGET', user, id, 'epoch')
local session, epoch = found[1], found[2]
if not session then return false end

local generation, opened, rotated, ends, absolute_end, origin =
  string.match(session, '^(%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
if tonumber(ends) <= now then return { 0, session, epoch } end
if generation ~= presented then
  local grace = ARGV[GRACE] and tonumber(ARGV[GRACE])
  local is_parent = tonumber(presented) == tonumber(generation) - 1
  if not grace or is_parent and now < tonumber(rotated) + grace then return { 0, session, epoch } end
  redis.call('HDEL', user, id)
  record_ended(id, FIRST_OF_RECORD)
  return { 2, session, epoch }
end

-- Times stay the text they came as: printing a number here could round it.
local new_ends = ARGV[4]
if tonumber(absolute_end) < tonumber(new_ends) then new_ends = absolute_end end
session = table.concat({ string.format('%.0f', generation + 1), opened, ARGV[3], new_ends, absolute_end, origin }, ' ')
redis.call('HSET', user, id, session)
local life = math.ceil(tonumber(new_ends) - now + kept_seconds)
if redis.call('TTL', user) < life then redis.call('EXPIRE', user, life) end
return { 1, session, epoch }
