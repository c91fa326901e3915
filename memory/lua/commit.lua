-- Write a session's new state under the caller's epoch, or refuse it. Safe to repeat: positions are absolute.
-- KEYS: due, leases, doc, log, mail, meta
-- ARGV: session id, epoch, document ('' = leave), transcript length before, mails consumed in all, attempts to note ('' = leave),
--       release (0/1), wake (ms, '' = none), lifetime (s), lease (ms), wake channel, shard, how many mails to hand out, transcript items...
-- Returns -1 when fenced, else {mail...}: what is still to be read.
if redis.call('HGET', KEYS[6], 'epoch') ~= ARGV[2] then return -1 end
local session, length, consumed, lifetime = ARGV[1], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[9]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[3] ~= '' then redis.call('SET', KEYS[3], ARGV[3], 'EX', lifetime) end
if #ARGV > 13 then
  -- A repeated commit whose first answer was lost finds its own items here: drop them before appending.
  if redis.call('LLEN', KEYS[4]) > length then
    if length == 0 then redis.call('DEL', KEYS[4]) else redis.call('LTRIM', KEYS[4], 0, length - 1) end
  end
  for i = 14, #ARGV do redis.call('RPUSH', KEYS[4], ARGV[i]) end
end
redis.call('EXPIRE', KEYS[4], lifetime)
local done = tonumber(redis.call('HGET', KEYS[6], 'consumed') or '0')
if consumed > done then
  redis.call('LTRIM', KEYS[5], consumed - done, -1)
  redis.call('HSET', KEYS[6], 'consumed', consumed)
end
if ARGV[6] ~= '' then redis.call('HSET', KEYS[6], 'attempts', ARGV[6]) end
redis.call('EXPIRE', KEYS[6], lifetime)
local left = redis.call('LRANGE', KEYS[5], 0, tonumber(ARGV[13]) - 1)
if ARGV[7] == '1' then
  redis.call('ZREM', KEYS[2], session)
  -- What is given back unchanged (no document) rests until its time although its mail is unread.
  if #left > 0 and (ARGV[3] ~= '' or ARGV[8] == '') then
    redis.call('ZADD', KEYS[1], now, session)
    redis.call('PUBLISH', ARGV[11], ARGV[12])
  elseif ARGV[8] ~= '' then
    redis.call('ZADD', KEYS[1], ARGV[8], session)
    if tonumber(ARGV[8]) <= now then redis.call('PUBLISH', ARGV[11], ARGV[12]) end
  end
else
  redis.call('ZADD', KEYS[2], now + tonumber(ARGV[10]), session)
end
return left
