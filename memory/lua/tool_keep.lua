-- Keep the pages of a result under their numbers, for a time: in one step, so that none is kept for ever.
-- KEYS: 1 the result
-- ARGV: 1 for how long (ms), then the pages in order
redis.call('DEL', KEYS[1])
for i = 2, #ARGV do
  redis.call('HSET', KEYS[1], tostring(i - 1), ARGV[i])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return #ARGV - 1
