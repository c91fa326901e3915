-- Read parts of a transcript by absolute positions; what is no longer kept, or not there yet, is left out.
-- KEYS: log, meta   ARGV: pairs of first position and position after the last
-- Returns for each pair {position of the first item given, item...}.
local start = tonumber(redis.call('HGET', KEYS[2], 'start') or '0')
local answer = {}
for i = 1, #ARGV, 2 do
  local from = math.max(tonumber(ARGV[i]), start)
  local part = { from }
  if tonumber(ARGV[i + 1]) > from then
    for _, item in ipairs(redis.call('LRANGE', KEYS[1], from - start, tonumber(ARGV[i + 1]) - start - 1)) do part[#part + 1] = item end
  end
  answer[#answer + 1] = part
end
return answer
