-- Drop what waited for too long, and read the first of what is left.
-- KEYS: handovers, handover times
-- ARGV: lifetime (s), most to read, session ids to read (none: the first)...
-- Returns {what is kept of each...}.
local time = redis.call('TIME')
local before = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[1] * 1000
for _, old in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', before)) do
  redis.call('HDEL', KEYS[1], old)
  redis.call('ZREM', KEYS[2], old)
end
local found = {}
local limit = tonumber(ARGV[2])
local sessions = #ARGV > 2 and {unpack(ARGV, 3)} or limit > 0 and redis.call('ZRANGE', KEYS[2], 0, limit - 1) or {}
for _, session in ipairs(sessions) do
  local kept = redis.call('HGET', KEYS[1], session)
  if kept then found[#found + 1] = kept end
end
return found
