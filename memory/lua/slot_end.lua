-- End the work on a slot under the caller's epoch: done, so that no replica does it again, or given back. Safe to repeat.
-- KEYS: the job   ARGV: epoch, done (0/1), what it did (JSON), lifetime (ms)
-- Returns 1, or 0 when another holds it.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return 0 end
if ARGV[2] == '1' then
  local time = redis.call('TIME')
  redis.call('HSET', KEYS[1], 'done', redis.call('HGET', KEYS[1], 'slot'), 'ended', string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)),
    'counts', ARGV[3])
end
redis.call('HSET', KEYS[1], 'until', '0', 'owner', '')
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
