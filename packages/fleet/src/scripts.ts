/*
 * The scripts that Redis runs as one step. Every write of a worker goes through `COMMIT`, which compares the fencing
 * number first. Each script names the order of its keys, which its caller keeps to.
 */

/**
 * Keys: owner, number, in, history, commit. Arguments: worker, lease in milliseconds. Returns the fencing number, or 0.
 *
 * The number is the time, so that it is above all earlier ones also where the store has lost the last writes.
 */
export const ACQUIRE = `
local owner = redis.call('GET', KEYS[1])
if owner and string.sub(owner, 1, #ARGV[1] + 1) ~= ARGV[1] .. ':' then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local number = math.max(now, tonumber(redis.call('GET', KEYS[2]) or '0') + 1)
local text = string.format('%.0f', number)
redis.call('SET', KEYS[2], text)
redis.call('SET', KEYS[1], ARGV[1] .. ':' .. text, 'PX', ARGV[2])
redis.call('DEL', KEYS[5])
local groups = redis.pcall('XINFO', 'GROUPS', KEYS[3])
if not groups.err then
  for _, group in ipairs(groups) do redis.call('XGROUP', 'DESTROY', KEYS[3], group[2]) end
end
redis.call('XGROUP', 'CREATE', KEYS[3], ARGV[1], '0', 'MKSTREAM')
redis.call('XADD', KEYS[4], 'MAXLEN', '~', '10000', '*', 'owner', ARGV[1], 'number', text)
return number`

/** Keys: owner. Arguments: its value, lease in milliseconds. Returns 1 while it is held. */
export const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`

/** Keys: owner. Arguments: its value. Returns 1 if it was held. */
export const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`

/** Keys: owner, number. Arguments: value of the owner, a number that the service knows. Frees the lease if it was held. */
export const FENCED = `
if tonumber(redis.call('GET', KEYS[2]) or '0') < tonumber(ARGV[2]) then redis.call('SET', KEYS[2], ARGV[2]) end
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`

/** Keys: workers. Arguments: worker, or an empty text, and after how many milliseconds one is gone. Returns the live ones. */
export const BEAT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[1] ~= '' then redis.call('ZADD', KEYS[1], now, ARGV[1]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
return redis.call('ZRANGE', KEYS[1], 0, -1)`

/**
 * Keys: a stream. Arguments: group, after how many milliseconds a consumer is gone. Removes consumers that are gone and have no
 * entry: one step, so that none that has just read something is removed with what it has read.
 */
export const REMOVE_CONSUMERS = `
for _, fields in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local consumer = {}
  for index = 1, #fields, 2 do consumer[fields[index]] = fields[index + 1] end
  if consumer.pending == 0 and consumer.idle >= tonumber(ARGV[2]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], consumer.name)
  end
end
return 1`

/** Keys: in, open, ending, conversation. Arguments: conversation, context as JSON or an empty text, time. */
export const OPEN = `
if redis.call('SISMEMBER', KEYS[3], ARGV[1]) == 1 then return 'conversation_ending' end
if redis.call('SADD', KEYS[2], ARGV[1]) == 0 then return 'known' end
redis.call('HSET', KEYS[4], 'opened', ARGV[3])
if ARGV[2] ~= '' then redis.call('HSET', KEYS[4], 'context', ARGV[2]) end
redis.call('XADD', KEYS[1], '*', 'k', 'open', 'c', ARGV[1])
return 'opened'`

/** Keys: in, open, ending. Arguments: conversation. */
export const END = `
if redis.call('SISMEMBER', KEYS[3], ARGV[1]) == 1 then return 'ok' end
if redis.call('SREM', KEYS[2], ARGV[1]) == 0 then return 'unknown_conversation' end
redis.call('SADD', KEYS[3], ARGV[1])
redis.call('XADD', KEYS[1], '*', 'k', 'end', 'c', ARGV[1])
return 'ok'`

/** Keys: in, open, ending, pending, counts, done. Arguments: conversation, message, text, most pending messages, time. */
export const SEND = `
if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 0 then
  return redis.call('SISMEMBER', KEYS[3], ARGV[1]) == 1 and 'conversation_ending' or 'unknown_conversation'
end
if redis.call('HEXISTS', KEYS[4], ARGV[2]) == 1 or redis.call('ZSCORE', KEYS[6], ARGV[2]) then return 'ok' end
if tonumber(redis.call('HGET', KEYS[5], ARGV[1]) or '0') >= tonumber(ARGV[4]) then return 'too_many_pending' end
redis.call('HINCRBY', KEYS[5], ARGV[1], 1)
redis.call('HSET', KEYS[4], ARGV[2], '')
redis.call('XADD', KEYS[1], '*', 'k', 'message', 'c', ARGV[1], 'i', ARGV[2], 'd', ARGV[3], 't', ARGV[5])
return 'ok'`

/**
 * Keys: owner, commit, in, out, pending, counts, done, open, ending, then the conversations. Arguments: value of the owner,
 * number of the commit, worker, most events, time, oldest time of a settled id, operations as JSON. Returns 0 for an owner that
 * lost its lease.
 */
export const COMMIT = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if redis.call('GET', KEYS[2]) == ARGV[2] then return 1 end
redis.call('SET', KEYS[2], ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[7], '-inf', ARGV[6])
for _, op in ipairs(cjson.decode(ARGV[7])) do
  local kind = op[1]
  if kind == 'set' then redis.call('HSET', KEYS[9 + op[2]], op[3], op[4])
  elseif kind == 'delete' then redis.call('HDEL', KEYS[9 + op[2]], op[3])
  elseif kind == 'mark' then
    if redis.call('HEXISTS', KEYS[5], op[2]) == 1 then redis.call('HSET', KEYS[5], op[2], op[3]) end
  elseif kind == 'done' then
    redis.call('XACK', KEYS[3], ARGV[3], op[2])
    redis.call('XDEL', KEYS[3], op[2])
  elseif kind == 'settle' then
    if redis.call('HDEL', KEYS[5], op[2]) == 1 then
      if redis.call('HINCRBY', KEYS[6], op[3], -1) <= 0 then redis.call('HDEL', KEYS[6], op[3]) end
    end
    redis.call('ZADD', KEYS[7], ARGV[5], op[2])
  elseif kind == 'event' then
    redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[4], '*', 'k', op[2], 'c', op[3], 'd', op[4])
  elseif kind == 'forget' then
    redis.call('DEL', KEYS[9 + op[2]])
    redis.call('SREM', KEYS[9], op[3])
    redis.call('HDEL', KEYS[6], op[3])
  end
end
return 1`
