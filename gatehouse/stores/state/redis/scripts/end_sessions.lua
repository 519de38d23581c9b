-- Remove every session of a user but one.
--   key   the user's sessions and epoch
--   in    id of the one that stays, or an empty text
--   out   what there was, as HGETALL tells it
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  if fields[i] ~= 'epoch' and fields[i] ~= ARGV[1] then redis.call('HDEL', KEYS[1], fields[i]) end
end
return fields
