-- Remove every session of a user but one.
--   keys  the user's sessions and epoch, the log of ended sessions
--   in    id of the one that stays, or an empty text; the user; then the arguments of `record_ended`
--   out   what there was, as HGETALL returns it
local fields = redis.call('HGETALL', KEYS[1])
if ARGV[7] == '1' then record_ended(ARGV[2], 3) end
for i = 1, #fields, 2 do
  if fields[i] ~= 'epoch' and fields[i] ~= ARGV[1] then
    redis.call('HDEL', KEYS[1], fields[i])
    record_early_end(fields[i], fields[i + 1], 3)
  end
end
return fields
