-- Extend a session that is live, without rotating it.
--   keys  the user's sessions and epoch
--   in    id, now, new end, how long an ended one is kept; with a further login its time and its proof
--   out   nothing if there is no such session or it has expired; else the session, the epoch
local user, id, now, kept_seconds = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[4])

local found = redis.call('HMGET', user, id, 'epoch')
if not found[1] then return false end

-- Times stay the text they came as: printing a number here could round it.
local generation, opened, rotated, ends, absolute_end, origin, agent =
  string.match(found[1], '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S*) (.*)$')
if tonumber(ends) <= now then return false end
local new_ends = ARGV[3]
if tonumber(absolute_end) < tonumber(new_ends) then new_ends = absolute_end end
if tonumber(ends) < tonumber(new_ends) then ends = new_ends end
if ARGV[5] then
  opened, origin = ARGV[5], string.match(origin, '^[^/]*')
  if ARGV[6] ~= '' then origin = origin .. '/' .. ARGV[6] end
end

local session = table.concat({ generation, opened, rotated, ends, absolute_end, origin, agent }, ' ')
redis.call('HSET', user, id, session)
local life = math.ceil(tonumber(ends) - now + kept_seconds)
if redis.call('TTL', user) < life then redis.call('EXPIRE', user, life) end
return { session, found[2] }
