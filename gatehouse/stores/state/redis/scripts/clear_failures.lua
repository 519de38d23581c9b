-- Clear the failures under one name.
--   keys  the failures under that name, the index of all locked names
--   in    name
--   out   1 if there were any
local before = redis.call('GET', KEYS[1])
if not before then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], before .. ' ' .. ARGV[1])
return 1
