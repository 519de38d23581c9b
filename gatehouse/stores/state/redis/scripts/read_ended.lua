-- Read the log of ended sessions.
--   key   the log
--   in    the id after which to read, how many entries
--   out   how many entries there are, the ids of the first and the last of them, the entries asked for
local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
if not first then return { 0, false, false, {} } end
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local entries = redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+', 'COUNT', ARGV[2])
return { redis.call('XLEN', KEYS[1]), first[1], last[1], entries }
