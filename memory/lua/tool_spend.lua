-- Count what a person used in the current window, which begins with the first use: in one step, so that none lasts for ever.
-- KEYS: 1 the person's count
-- ARGV: 1 how much more, 2 the window (ms)
-- Answers: the count with it
local total = redis.call('INCRBY', KEYS[1], ARGV[1])
if redis.call('PTTL', KEYS[1]) < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return total
