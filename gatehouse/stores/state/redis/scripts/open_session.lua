-- Store a new session beside the others of its user, and remove those beyond the limit and those ended long ago.
--   keys  the user's sessions and epoch, the log of ended sessions
--   in    id, session, how many a user may have, now, how long an ended one is kept, then the arguments of
--         `record_ended`
--   out   the epoch, then id and session of each that was removed, oldest first
-- `record_ended.lua` is prepended; how a session is stored as text is in `encoding.py`.
local FIRST_OF_RECORD = 6
local user = KEYS[1]
local id, session, sessions_per_user = ARGV[1], ARGV[2], tonumber(ARGV[3])
local now, kept_seconds = tonumber(ARGV[4]), tonumber(ARGV[5])

local epoch, others = false, {}
local fields = redis.call('HGETALL', user)
for i = 1, #fields, 2 do
  if fields[i] == 'epoch' then
    epoch = fields[i + 1]
  else
    local opened, ends = string.match(fields[i + 1], '^%S+ (%S+) %S+ (%S+)')
    others[#others + 1] = {
      id = fields[i], session = fields[i + 1], opened = tonumber(opened), ends = tonumber(ends),
    }
  end
end
table.sort(others, function(a, b)
  if a.opened ~= b.opened then return a.opened < b.opened end
  return a.id < b.id
end)

local out = { epoch }
local too_many = #others + 1 - sessions_per_user
for position, other in ipairs(others) do
  if position <= too_many or other.ends + kept_seconds <= now then
    redis.call('HDEL', user, other.id)
    record_early_end(other.id, other.session, FIRST_OF_RECORD)
    out[#out + 1] = other.id
    out[#out + 1] = other.session
  end
end

redis.call('HSET', user, id, session)
local ends = tonumber(string.match(session, '^%S+ %S+ %S+ (%S+)'))
local life = math.ceil(ends - now + kept_seconds)
if redis.call('TTL', user) < life then redis.call('EXPIRE', user, life) end
return out
