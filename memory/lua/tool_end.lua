-- What came of a call that ran: circuits learn of it, the value is kept, what it changed is made void, the lock is given back.
-- KEYS: 1 cached value, 2 lock, then the circuits, then the generations of the value's tags, then the generations to make void
-- ARGV: 1 number of circuits, 2 number of tags, 3 whether it is cached (0/1), 4 token of the caller, 5 outcome (good, bad, none), 6 generation seen,
--       7 value (empty: not kept), 8 negative, 9 fresh for (ms), 10 kept for (ms), 11 threshold, 12 window (ms), 13 first cooling (ms),
--       14 longest cooling (ms), 15 generations' life (ms)
-- Answers: which circuits this call opened and which it closed (from 1), and whether the tags are still of the generation seen (0/1)
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local circuits, tags = tonumber(ARGV[1]), tonumber(ARGV[2])
local opened, closed, held = {}, {}, 0
for i = 3, 2 + circuits do
  local key = KEYS[i]
  local state = redis.call('HMGET', key, 'until', 'failures', 'first', 'times', 'probe', 'prober')
  local mine = state[6] == ARGV[4]
  if ARGV[5] == 'good' then
    if state[1] then
      closed[#closed + 1] = i - 2
    end
    if state[1] or state[2] then
      redis.call('DEL', key)
    end
  elseif ARGV[5] == 'bad' then
    local failures, first, times = tonumber(state[2] or '0'), tonumber(state[3] or '0'), tonumber(state[4] or '0')
    if now - first > tonumber(ARGV[12]) then
      failures, first = 0, now
    end
    failures = failures + 1
    -- A call from before the circuit opened says nothing new while another one is the probe.
    local others = state[5] and not mine and tonumber(state[5]) > now
    local probing = state[1] and tonumber(state[1]) <= now and not others
    if probing or (not state[1] and failures >= tonumber(ARGV[11])) then
      local cooling = math.min(tonumber(ARGV[13]) * 2 ^ times, tonumber(ARGV[14]))
      redis.call('HSET', key, 'until', now + cooling, 'times', times + 1)
      opened[#opened + 1] = i - 2
    end
    if mine then
      redis.call('HDEL', key, 'probe', 'prober')
    end
    redis.call('HSET', key, 'failures', failures, 'first', first)
    redis.call('PEXPIRE', key, tonumber(ARGV[14]) * 2 + tonumber(ARGV[12]))
  elseif mine then
    redis.call('HDEL', key, 'probe', 'prober')
  end
end
for i = 3 + circuits + tags, #KEYS do
  redis.call('INCR', KEYS[i])
  redis.call('PEXPIRE', KEYS[i], ARGV[15])
end
if ARGV[3] == '1' then
  local parts = {}
  for i = 3 + circuits, 2 + circuits + tags do
    parts[#parts + 1] = redis.call('GET', KEYS[i]) or '0'
  end
  if table.concat(parts, '.') == ARGV[6] then
    held = 1
    if ARGV[7] ~= '' then
      redis.call('HSET', KEYS[1], 'value', ARGV[7], 'at', now, 'generation', ARGV[6], 'negative', ARGV[8], 'fresh', ARGV[9])
      redis.call('PEXPIRE', KEYS[1], ARGV[10])
    end
  end
  if redis.call('GET', KEYS[2]) == ARGV[4] then
    redis.call('DEL', KEYS[2])
  end
end
return {opened, closed, held}
