-- May a call run, or is there an answer already? One step over the circuits it depends on and its cached value.
-- KEYS: 1 cached value, 2 lock of whoever fetches it, then the circuits, then the generations of the value's tags, then the generations to make void
-- ARGV: 1 number of circuits, 2 whether it is cached (0/1), 3 token of the caller, 4 lock for (ms), 5 probe for (ms), 6 number of tags, 7 generations' life (ms)
-- Answers: {verdict, value, age (ms), negative, generation, wait (ms), failures on record (0/1), which circuit is open (from 1, 0: none)};
--          verdict: hit, busy, open, probe or run
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local circuits, tags = tonumber(ARGV[1]), tonumber(ARGV[6])
local cached, token = ARGV[2] == '1', ARGV[3]
local value, age, negative, generation = '', 0, '0', ''
if cached then
  local parts = {}
  for i = 3 + circuits, 2 + circuits + tags do
    parts[#parts + 1] = redis.call('GET', KEYS[i]) or '0'
  end
  generation = table.concat(parts, '.')
  local entry = redis.call('HMGET', KEYS[1], 'value', 'at', 'generation', 'negative', 'fresh')
  if entry[1] and entry[3] == generation then
    value, age, negative = entry[1], now - tonumber(entry[2]), entry[4]
    local fresh = tonumber(entry[5])
    if age < fresh then
      return {'hit', value, age, negative, generation, 0, 0, 0}
    end
    if negative == '1' then
      value, age, negative = '', 0, '0'
    end
  end
end
local wait, marked, blocking = 0, 0, 0
for i = 3, 2 + circuits do
  local state = redis.call('HMGET', KEYS[i], 'until', 'probe', 'failures')
  if state[3] then
    marked = 1
  end
  if state[1] then
    local open = tonumber(state[1])
    if open <= now then
      open = tonumber(state[2] or '0')
    end
    if open - now > wait then
      wait, blocking = open - now, i - 2
    end
  end
end
if wait > 0 then
  return {'open', value, age, negative, generation, wait, marked, blocking}
end
if cached and not redis.call('SET', KEYS[2], token, 'NX', 'PX', ARGV[4]) and redis.call('GET', KEYS[2]) ~= token then
  return {'busy', value, age, negative, generation, redis.call('PTTL', KEYS[2]), marked, 0}
end
local verdict = 'run'
for i = 3, 2 + circuits do
  if redis.call('HEXISTS', KEYS[i], 'until') == 1 then
    redis.call('HSET', KEYS[i], 'probe', now + tonumber(ARGV[5]), 'prober', token)
    verdict = 'probe'
  end
end
-- Once now, once at the end: whoever is killed in between has changed something and can no longer say so.
for i = 3 + circuits + tags, #KEYS do
  redis.call('INCR', KEYS[i])
  redis.call('PEXPIRE', KEYS[i], ARGV[7])
end
return {verdict, value, age, negative, generation, 0, marked, 0}
