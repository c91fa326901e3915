-- Give one job's slot to a replica under a new epoch, unless it is done, held by another or still to come by this server's clock.
-- KEYS: the job   ARGV: slot (ms, '' = one for now), owner, lease (ms), how far ahead a slot may lie (ms), lifetime (ms)
-- Returns {0, 0} when the slot is done, {0, ms} when to look again, or {1, epoch, slot, cursor}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kept = redis.call('HMGET', KEYS[1], 'done', 'until', 'epoch', 'cursor')
local done = tonumber(kept[1] or '0')
local slot = tonumber(ARGV[1]) or math.max(now, done + 1)
if slot <= done then return { 0, 0 } end
if slot > now + tonumber(ARGV[4]) then return { 0, slot - now } end
local held = tonumber(kept[2] or '0')
if held > now then return { 0, held - now } end
-- The clock as a floor keeps epochs rising even after the record of the last one expired.
local epoch = string.format('%.0f', math.max(tonumber(kept[3] or '0') + 1, now))
local name = string.format('%.0f', slot)
redis.call('HSET', KEYS[1], 'epoch', epoch, 'slot', name, 'owner', ARGV[2], 'until', string.format('%.0f', now + tonumber(ARGV[3])))
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return { 1, epoch, name, kept[4] or '' }
