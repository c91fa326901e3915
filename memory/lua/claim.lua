-- Give one due session of a shard to a worker under a new epoch; sessions whose lease ran out become due first.
-- KEYS: due, leases   ARGV: key prefix of the shard, owner, lease (ms), how many mails to hand out
-- Returns nil, or {session id, epoch, attempts, mails consumed before, document, mail...}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, dead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 32)) do
  redis.call('ZREM', KEYS[2], dead)
  redis.call('ZADD', KEYS[1], now, dead)
end
local session = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 1)[1]
if not session then return nil end
redis.call('ZREM', KEYS[1], session)
local meta = ARGV[1] .. 'meta:' .. session
-- The clock as a floor keeps epochs rising even after the record of the last one expired.
local epoch = math.max(tonumber(redis.call('HGET', meta, 'epoch') or '0') + 1, now)
-- The first attempt is counted here; later ones when their work begins, so that nobody is blamed for an end it only waited beside.
local attempts = tonumber(redis.call('HGET', meta, 'attempts') or '0') + 1
if attempts == 1 then redis.call('HSET', meta, 'attempts', 1) end
redis.call('HSET', meta, 'epoch', string.format('%.0f', epoch), 'owner', ARGV[2])
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[3]), session)
local answer = { session, string.format('%.0f', epoch), attempts, tonumber(redis.call('HGET', meta, 'consumed') or '0'),
  redis.call('GET', ARGV[1] .. 'doc:' .. session) or '' }
for _, mail in ipairs(redis.call('LRANGE', ARGV[1] .. 'mail:' .. session, 0, tonumber(ARGV[4]) - 1)) do
  answer[#answer + 1] = mail
end
return answer
