-- Add to the level of a rate, or take out: `filled` of limit_rules.py; a property test holds the two together.
--   in    now, seconds to add, the highest level
--   out   when the rate would be idle again, as text
local now, seconds, ceiling = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
arrival = math.min(math.max(arrival + seconds, now), now + ceiling)
local text = string.format('%.17g', arrival)
redis.call('SET', KEYS[1], text, 'EX', math.ceil(arrival - now) + 1)
return text
