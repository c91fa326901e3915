-- Write a session's new state under the caller's epoch, or refuse it. Safe to repeat: positions are absolute.
-- KEYS: due, leases, doc, log, mail, meta, memory, index, recent (of the channel), idle, handovers, handover times (of the shard)
-- ARGV: session id, epoch, document ('' = leave), transcript length before, mails consumed in all, attempts to note ('' = leave),
--       release (0/1), wake (ms, '' = none), lifetime (s), lease (ms), wake channel, shard, how many mails to hand out,
--       first position of the transcript to keep, memory document ('' = leave, '-' = delete with all that was made of the thread), number of index blocks n,
--       n times: block, its bytes ('' = delete); number of items rewritten m, m times: position, item; then transcript items...
-- Returns -1 when fenced, else {mail...}: what is still to be read.
if redis.call('HGET', KEYS[6], 'epoch') ~= ARGV[2] then return -1 end
local session, length, consumed, lifetime = ARGV[1], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[9]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[3] ~= '' then
  redis.call('SET', KEYS[3], ARGV[3], 'EX', lifetime)
  -- Listed from its first commit on: people ask for a thread while the answer is still being written.
  redis.call('ZADD', KEYS[9], now, session)
  redis.call('ZREMRANGEBYRANK', KEYS[9], 0, -51)
  redis.call('EXPIRE', KEYS[9], lifetime)
end
-- The list holds the items from position `start` on.
local blocks = tonumber(ARGV[16])
local rewritten = 17 + 2 * blocks
local rewrites = tonumber(ARGV[rewritten])
local first = rewritten + 1 + 2 * rewrites
local keep = tonumber(ARGV[14])
if #ARGV >= first or keep > 0 or rewrites > 0 then
  local start = tonumber(redis.call('HGET', KEYS[6], 'start') or '0')
  local have = redis.call('LLEN', KEYS[4])
  local noted = start
  -- Items that went missing (an evicted list) must not shift the places of those that follow.
  if have < length - start then start = length - have end
  for i = 0, rewrites - 1 do
    local place = tonumber(ARGV[rewritten + 1 + 2 * i]) - start
    if place >= 0 and place < have then redis.call('LSET', KEYS[4], place, ARGV[rewritten + 2 + 2 * i]) end
  end
  if #ARGV >= first then
    -- A repeated commit whose first answer was lost finds its own items here: drop them before appending.
    if have > length - start then
      if length <= start then redis.call('DEL', KEYS[4]) else redis.call('LTRIM', KEYS[4], 0, length - start - 1) end
    end
    for i = first, #ARGV do redis.call('RPUSH', KEYS[4], ARGV[i]) end
  end
  if keep > start then
    redis.call('LTRIM', KEYS[4], keep - start, -1)
    start = keep
  end
  if start ~= noted then redis.call('HSET', KEYS[6], 'start', start) end
end
redis.call('EXPIRE', KEYS[4], lifetime)
if ARGV[15] == '-' then
  redis.call('DEL', KEYS[7], KEYS[8])
  redis.call('HDEL', KEYS[11], session)
  redis.call('ZREM', KEYS[12], session)
  -- Who is about to hand over what it was has read it already: without this mark that is refused. A release sets a later one.
  redis.call('ZREM', KEYS[10], session)
elseif ARGV[15] ~= '' then
  redis.call('SET', KEYS[7], ARGV[15], 'EX', lifetime)
end
for i = 0, blocks - 1 do
  local bytes = ARGV[18 + 2 * i]
  if bytes == '' then redis.call('HDEL', KEYS[8], ARGV[17 + 2 * i]) else redis.call('HSET', KEYS[8], ARGV[17 + 2 * i], bytes) end
end
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
  if ARGV[3] ~= '' then
    redis.call('EXPIRE', KEYS[7], lifetime)
    redis.call('EXPIRE', KEYS[8], lifetime)
    redis.call('ZADD', KEYS[10], now, session)
  redis.call('EXPIRE', KEYS[10], 2 * tonumber(lifetime))
  end
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
