-- Store one event in its session's mail and make the session due, at most once per event identity.
-- KEYS: due, leases, doc, mail, seen   ARGV: session id, payload, seen lifetime (s), only-if-followed (0/1), mail limit, wake channel, shard
-- Returns 1 stored, 0 seen before, -1 not a thread we are part of, -2 mail full.
local session, payload = ARGV[1], ARGV[2]
if ARGV[4] == '1' and redis.call('EXISTS', KEYS[3], KEYS[4]) == 0 then return -1 end
if redis.call('EXISTS', KEYS[5]) == 1 then return 0 end
if redis.call('LLEN', KEYS[4]) >= tonumber(ARGV[5]) then return -2 end
redis.call('SET', KEYS[5], '1', 'EX', ARGV[3])
redis.call('RPUSH', KEYS[4], payload)
-- A claimed session is looked at by its holder: making it due now would let a second worker take it.
if not redis.call('ZSCORE', KEYS[2], session) then
  local time = redis.call('TIME')
  redis.call('ZADD', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000), session)
  redis.call('PUBLISH', ARGV[6], ARGV[7])
end
return 1
