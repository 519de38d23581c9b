-- Make a user's epoch larger than it ever was.
--   key   the user's sessions and epoch
--   in    now in milliseconds, how long an epoch is kept
local epoch = (tonumber(redis.call('HGET', KEYS[1], 'epoch') or 0)) + 1
if epoch < tonumber(ARGV[1]) then epoch = tonumber(ARGV[1]) end
redis.call('HSET', KEYS[1], 'epoch', string.format('%.0f', epoch))
if redis.call('TTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
