-- Extend a lease under the caller's epoch. KEYS: leases, meta, mail   ARGV: session id, epoch, lease (ms)
-- Returns -1 when fenced or no longer held, else the number of mails waiting.
if redis.call('HGET', KEYS[2], 'epoch') ~= ARGV[2] then return -1 end
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return -1 end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[3]), ARGV[1])
return redis.call('LLEN', KEYS[3])
