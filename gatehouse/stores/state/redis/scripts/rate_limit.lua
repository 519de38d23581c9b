-- Count one event against a rate.
--   in    now, seconds between two events at the full rate, seconds of the rate
--   out   seconds to wait, as text; 0 if the event was within the rate and has been counted
return count_event(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])) or '0'
