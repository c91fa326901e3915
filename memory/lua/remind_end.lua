-- A reminder is over: given, or called off by its person, which is only possible while it is still theirs to call off.
-- KEYS: the reminder, its mark of being over, all by due time, the person's by due time
-- ARGV: id, how long the mark stays (s), whether it is called off (0/1)
-- Returns the document, or nil when there was nothing to end.
if ARGV[3] == '1' and not redis.call('ZSCORE', KEYS[4], ARGV[1]) then return nil end
local document = redis.call('GET', KEYS[1])
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('ZREM', KEYS[4], ARGV[1])
if document then redis.call('SET', KEYS[2], '1', 'EX', ARGV[2]) end
return document
