-- Count one failure: `next_failures` of limit_rules.py; a property test holds the two together.
--   keys  the failures under one name, the index of all names that are locked
--   in    name, now, failure limit, its window, how long a lockout counts on, the seconds of each lockout
--   out   failures, since, level and until, as one text; nothing if the name is locked already
local name, now, failure_limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local window, kept_seconds = tonumber(ARGV[4]), tonumber(ARGV[5])
local failures, since, level, till = 0, now, 0, 0

local function forget_at()
  if level == 0 then return since + window end
  return till + kept_seconds
end

local before = redis.call('GET', KEYS[1])
if before then
  local f, s, l, t = string.match(before, '^(%S+) (%S+) (%S+) (%S+)$')
  failures, since, level, till = tonumber(f), tonumber(s), tonumber(l), tonumber(t)
  if now >= forget_at() then failures, since, level, till = 0, now, 0, 0 end
end
if till > now then return false end

failures = failures + 1
if level > 0 or failures >= failure_limit then
  since, till = now, now + tonumber(ARGV[6 + math.min(level, #ARGV - 6)])
  level = level + 1
end

local after = string.format('%d %.17g %d %.17g', failures, since, level, till)
redis.call('SET', KEYS[1], after, 'EX', math.ceil(forget_at() - now) + 1)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[2])
if before then redis.call('ZREM', KEYS[2], before .. ' ' .. name) end
if till > now then
  redis.call('ZADD', KEYS[2], string.format('%.17g', till), after .. ' ' .. name)
  local life = math.ceil(till - now) + 1
  if redis.call('TTL', KEYS[2]) < life then redis.call('EXPIRE', KEYS[2], life) end
end
return after
