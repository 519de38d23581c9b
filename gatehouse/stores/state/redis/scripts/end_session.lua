-- Remove one session.
--   key   the user's sessions and epoch
--   in    id
--   out   the session that was removed, or nothing, and the epoch
local found = redis.call('HMGET', KEYS[1], ARGV[1], 'epoch')
if found[1] then redis.call('HDEL', KEYS[1], ARGV[1]) end
return found
