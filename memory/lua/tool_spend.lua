-- Count what a person used in the current window, which begins with the first use: in one step, so that none lasts for ever.
-- KEYS: 1 the person's count
-- ARGV: 1 how much more, 2 the window (ms), 3 the limit
-- Answers: 1 if it stays within the limit; what would not is not counted, so that what is left can still be used
if tonumber(redis.call('GET', KEYS[1]) or '0') + tonumber(ARGV[1]) > tonumber(ARGV[3]) then
  return 0
end
redis.call('INCRBY', KEYS[1], ARGV[1])
if redis.call('PTTL', KEYS[1]) < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
