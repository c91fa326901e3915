-- Keep a reminder, once per id and at most so many for one person.
-- KEYS: the reminder, its mark of being over, all by due time, the person's by due time   ARGV: id, document, due (s), how many a person may have
-- Returns 1 kept, 0 known already (kept or over), -1 too many.
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
if redis.call('ZCARD', KEYS[4]) >= tonumber(ARGV[4]) then return -1 end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
redis.call('ZADD', KEYS[4], ARGV[3], ARGV[1])
return 1
