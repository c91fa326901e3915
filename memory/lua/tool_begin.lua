-- May a call run, or is there an answer already? One step over the circuits it depends on and its cached value.
-- KEYS: 1 cached value, 2 lock of whoever fetches it, then the circuits, then the generations of the value's tags
-- ARGV: 1 number of circuits, 2 whether it is cached (0/1), 3 token of the caller, 4 lock for (ms), 5 probe for (ms)
-- Answers: {verdict, value, age (ms), negative, generation, wait (ms), failures on record (0/1)}; verdict: hit, busy, open, probe or run
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local circuits = tonumber(ARGV[1])
local cached, token = ARGV[2] == '1', ARGV[3]
local value, age, negative, generation = '', 0, '0', ''
if cached then
  local parts = {}
  for i = 3 + circuits, #KEYS do
    parts[#parts + 1] = redis.call('GET', KEYS[i]) or '0'
  end
  generation = table.concat(parts, '.')
  local entry = redis.call('HMGET', KEYS[1], 'value', 'at', 'generation', 'negative', 'fresh')
  if entry[1] and entry[3] == generation then
    value, age, negative = entry[1], now - tonumber(entry[2]), entry[4]
    local fresh = tonumber(entry[5])
    if age < fresh then
      return {'hit', value, age, negative, generation, 0, 0}
    end
    if negative == '1' then
      value, age, negative = '', 0, '0'
    end
  end
end
local wait, marked = 0, 0
for i = 3, 2 + circuits do
  local state = redis.call('HMGET', KEYS[i], 'until', 'probe', 'failures')
  if state[3] then
    marked = 1
  end
  if state[1] then
    local open = tonumber(state[1])
    if open > now then
      wait = math.max(wait, open - now)
    elseif state[2] and tonumber(state[2]) > now then
      wait = math.max(wait, tonumber(state[2]) - now)
    end
  end
end
if wait > 0 then
  return {'open', value, age, negative, generation, wait, marked}
end
if cached and not redis.call('SET', KEYS[2], token, 'NX', 'PX', ARGV[4]) and redis.call('GET', KEYS[2]) ~= token then
  return {'busy', value, age, negative, generation, redis.call('PTTL', KEYS[2]), marked}
end
local verdict = 'run'
for i = 3, 2 + circuits do
  if redis.call('HEXISTS', KEYS[i], 'until') == 1 then
    redis.call('HSET', KEYS[i], 'probe', now + tonumber(ARGV[5]), 'prober', token)
    verdict = 'probe'
  end
end
return {verdict, value, age, negative, generation, 0, marked}
