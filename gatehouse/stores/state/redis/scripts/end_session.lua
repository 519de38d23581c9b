-- Remove one session.
--   keys  the user's sessions and epoch, the log of ended sessions
--   in    id, then the arguments of `record_ended`
--   out   the session that was removed, or nothing, and the epoch
local found = redis.call('HMGET', KEYS[1], ARGV[1], 'epoch')
if found[1] then
  redis.call('HDEL', KEYS[1], ARGV[1])
  record_early_end(ARGV[1], found[1], 2)
end
return found
