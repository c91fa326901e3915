-- From now on a reminder is being given and can no longer be called off. Safe to repeat.
-- KEYS: the reminder, the person's by due time   ARGV: id
-- Returns 1, or 0 when there is no such reminder (any more).
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
return 1
