-- Counts one event against a rate: `gcra` of limit_rules.py; a property test holds the two together.
-- Returns the seconds to wait, as text; nothing if the event was within the rate and has been counted.
local function count_event(key, now, interval, span)
  local arrival = math.max(tonumber(redis.call('GET', key) or now), now)
  local wait = arrival + interval - span - now
  if wait > 1e-9 then return string.format('%.17g', wait) end
  arrival = arrival + interval
  redis.call('SET', key, string.format('%.17g', arrival), 'EX', math.ceil(arrival - now) + 1)
end
