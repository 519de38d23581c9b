-- Count one event against a rate: `gcra` of rules.py; a property test holds the two together.
--   in    now, seconds between two events at the full rate, seconds of the rate
--   out   seconds to wait, as text; 0 if the event was within the rate and has been counted
local now, interval, span = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local wait = arrival + interval - span - now
if wait > 1e-9 then return string.format('%.17g', wait) end
arrival = arrival + interval
redis.call('SET', KEYS[1], string.format('%.17g', arrival), 'EX', math.ceil(arrival - now) + 1)
return '0'
