-- Hold a slot for longer, and note how far its work has come, under the caller's epoch. Safe to repeat.
-- KEYS: the job   ARGV: epoch, lease (ms), whether a cursor follows (0/1), cursor
-- Returns 1, or 0 when another holds it or it was ended.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] or redis.call('HGET', KEYS[1], 'until') == '0' then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], 'until', string.format('%.0f', now + tonumber(ARGV[2])))
if ARGV[3] == '1' then redis.call('HSET', KEYS[1], 'cursor', ARGV[4]) end
return 1
