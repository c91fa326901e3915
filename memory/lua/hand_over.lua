-- Keep what is worth keeping of an idle session, unless it was active or forgotten since. Safe to repeat: the second time its mark is gone.
-- KEYS: idle, handovers, handover times
-- ARGV: session id, when it was last active (ms), what is kept ('' = nothing), most to keep, lifetime (s)
-- Returns 1 when it is done, 0 when the session was active or forgotten meanwhile, or is handed over already.
local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not at or tonumber(at) ~= tonumber(ARGV[2]) then return 0 end
redis.call('ZREM', KEYS[1], ARGV[1])
if ARGV[3] ~= '' then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
  redis.call('ZADD', KEYS[3], now, ARGV[1])
  local function drop(sessions)
    for _, old in ipairs(sessions) do
      redis.call('HDEL', KEYS[2], old)
      redis.call('ZREM', KEYS[3], old)
    end
  end
  -- Each has its own time: a thread that is handed over later does not prolong it.
  drop(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now - ARGV[5] * 1000))
  drop(redis.call('ZRANGE', KEYS[3], 0, -1 - tonumber(ARGV[4])))
  redis.call('EXPIRE', KEYS[2], ARGV[5])
  redis.call('EXPIRE', KEYS[3], ARGV[5])
end
return 1
