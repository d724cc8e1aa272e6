/*
 * The scripts that Redis runs as one step. Every write of a worker goes through `COMMIT`, which compares the fencing
 * number first. Each script names the order of its keys, which its caller keeps to.
 */

/**
 * Keys: owner, number, in, history, commit. Arguments: worker, lease in milliseconds. Returns the fencing number, or 0.
 *
 * The number is the time, so that it is above all earlier ones also where the store has lost the last writes. A stored number that no service can read is replaced.
 */
export const ACQUIRE = `
local owner = redis.call('GET', KEYS[1])
if owner and string.sub(owner, 1, #ARGV[1] + 1) ~= ARGV[1] .. ':' then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local number = math.max(now, tonumber(redis.call('GET', KEYS[2]) or '0') + 1)
if number > 9007199254740991 then number = now end
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

/**
 * Keys: owner, number. Arguments: value of the owner, a number that the service knows. Frees the lease if it was held. A number
 * more than a day ahead of the time is ignored.
 */
export const FENCED = `
local time = redis.call('TIME')
if tonumber(ARGV[2]) > time[1] * 1000 + 86400000 then return 0 end
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

/**
 * Keys: in, open, ending, pending, counts, done. Arguments: conversation, field of the message, message, text, most pending
 * messages, time.
 */
export const SEND = `
if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 0 then
  return redis.call('SISMEMBER', KEYS[3], ARGV[1]) == 1 and 'conversation_ending' or 'unknown_conversation'
end
if redis.call('HEXISTS', KEYS[4], ARGV[2]) == 1 or redis.call('ZSCORE', KEYS[6], ARGV[2]) then return 'ok' end
if tonumber(redis.call('HGET', KEYS[5], ARGV[1]) or '0') >= tonumber(ARGV[5]) then return 'too_many_pending' end
redis.call('HINCRBY', KEYS[5], ARGV[1], 1)
redis.call('HSET', KEYS[4], ARGV[2], '')
redis.call('XADD', KEYS[1], '*', 'k', 'message', 'c', ARGV[1], 'i', ARGV[3], 'd', ARGV[4], 't', ARGV[6])
return 'ok'`

/**
 * Keys: owner, commit, in, out, pending, counts, ending, ended, then for each conversation: its state, done, events. Arguments: value of the
 * owner, number of the commit, worker, most events, time, how long ids of settled messages are kept, conversations and
 * operations as JSON. Returns 0 for an owner that lost its lease.
 *
 * Redis keeps what a failed script has written. So everything that can fail comes before the first write, and the number of
 * the commit is the last write.
 */
export const COMMIT = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if redis.call('GET', KEYS[2]) == ARGV[2] then return 1 end
local ids, operations = unpack(cjson.decode(ARGV[7]))
local lengths = { set = 4, delete = 3, mark = 4, done = 2, settle = 3, event = 4, forget = 2 }
local seen, counts = {}, {}
local function expect(index, kind)
  if seen[index] then return end
  seen[index] = true
  local is = redis.call('TYPE', KEYS[index]).ok
  if is ~= kind and is ~= 'none' then error('The key ' .. KEYS[index] .. ' holds a ' .. is .. ' instead of a ' .. kind) end
end
local function place(op, of)
  return 8 + (op[2] - 1) * 3 + of
end
for _, op in ipairs(operations) do
  local kind = op[1]
  if #op ~= lengths[kind] then error('Unknown operation ' .. tostring(kind)) end
  for index = kind == 'done' and 2 or 3, #op do
    if type(op[index]) ~= 'string' then error('Invalid operation ' .. kind) end
  end
  if kind ~= 'done' and not ids[op[2]] then error('Unknown conversation of ' .. kind) end
  if kind == 'set' or kind == 'delete' then expect(place(op, 1), 'hash')
  elseif kind == 'mark' then expect(5, 'hash')
  elseif kind == 'done' then expect(3, 'stream')
  elseif kind == 'event' then
    expect(4, 'stream')
    expect(place(op, 3), 'list')
  else
    expect(6, 'hash')
    if kind == 'forget' then
      expect(7, 'set')
      expect(8, 'list')
      expect(place(op, 3), 'list')
    end
    if kind == 'settle' then
      expect(5, 'hash')
      expect(place(op, 2), 'zset')
      local id = ids[op[2]]
      counts[id] = counts[id] or tonumber(redis.call('HGET', KEYS[6], id) or '0')
      if not counts[id] then error('The number of messages of ' .. id .. ' is unreadable in ' .. KEYS[6]) end
    end
  end
end
for _, op in ipairs(operations) do
  local kind, id = op[1], ids[op[2]]
  if kind == 'set' then redis.call('HSET', KEYS[place(op, 1)], op[3], op[4])
  elseif kind == 'delete' then redis.call('HDEL', KEYS[place(op, 1)], op[3])
  elseif kind == 'mark' then
    if redis.call('HEXISTS', KEYS[5], op[3]) == 1 then redis.call('HSET', KEYS[5], op[3], op[4]) end
  elseif kind == 'done' then
    redis.call('XACK', KEYS[3], ARGV[3], op[2])
    redis.call('XDEL', KEYS[3], op[2])
  elseif kind == 'settle' then
    if redis.call('HDEL', KEYS[5], op[3]) == 1 then
      counts[id] = counts[id] - 1
      if counts[id] > 0 then redis.call('HSET', KEYS[6], id, string.format('%.0f', counts[id]))
      else redis.call('HDEL', KEYS[6], id) end
    end
    local done = KEYS[place(op, 2)]
    redis.call('ZADD', done, ARGV[5], op[3])
    redis.call('ZREMRANGEBYSCORE', done, '-inf', ARGV[5] - ARGV[6])
    redis.call('PEXPIRE', done, ARGV[6])
  elseif kind == 'event' then
    local event = redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[4], '*', 'k', op[3], 'c', id, 'd', op[4])
    local events = KEYS[place(op, 3)]
    if redis.call('RPUSH', events, event) > 2 * tonumber(ARGV[4]) then redis.call('LTRIM', events, -ARGV[4], -1) end
  elseif kind == 'forget' then
    local last = redis.call('LINDEX', KEYS[place(op, 3)], -1)
    if last then redis.call('RPUSH', KEYS[8], last .. ' ' .. id) end
    redis.call('DEL', KEYS[place(op, 1)], KEYS[place(op, 2)])
    redis.call('SREM', KEYS[7], id)
    redis.call('HDEL', KEYS[6], id)
  end
end
redis.call('SET', KEYS[2], ARGV[2])
return 1`

/**
 * Keys: out, ended, unreadable, then the events of each named conversation. Arguments: oldest time of an event, how long an
 * event of a conversation that has ended stays for listeners without a group, then the first elements of `ended`. Removes events
 * that are too old, and all events of ended conversations that every group has handled. Returns how many conversations remain.
 */
export const PURGE = `
local function parse(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(seq)
end
local function isAtMost(id, ms, seq)
  local idMs, idSeq = parse(id)
  return idMs < ms or idMs == ms and idSeq <= seq
end
redis.call('XTRIM', KEYS[1], 'MINID', ARGV[1])
if #ARGV == 2 then return 0 end
local time = redis.call('TIME')
local ms, seq = time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[2], 0
local groups = redis.pcall('XINFO', 'GROUPS', KEYS[1])
for _, fields in ipairs(groups.err and {} or groups) do
  local group = {}
  for index = 1, #fields, 2 do group[fields[index]] = fields[index + 1] end
  local groupMs, groupSeq = parse(group['last-delivered-id'])
  if group.pending > 0 then
    groupMs, groupSeq = parse(redis.call('XPENDING', KEYS[1], group.name)[2])
    groupSeq = groupSeq - 1
  end
  if groupMs < ms or groupMs == ms and groupSeq < seq then ms, seq = groupMs, groupSeq end
end
for index = 3, #ARGV do
  local entry = ARGV[index]
  if redis.call('LINDEX', KEYS[2], 0) ~= entry then break end
  local last, id = string.match(entry, '^(%S+) (.*)$')
  if not isAtMost(last, ms, seq) and not isAtMost(last, tonumber(ARGV[1]), 0) then break end
  local list, count = KEYS[index + 1], 0
  for _, event in ipairs(redis.call('LRANGE', list, 0, -1)) do
    -- A conversation that was opened again with the same id has later ones.
    if not isAtMost(event, parse(last)) then break end
    redis.call('XDEL', KEYS[1], event)
    count = count + 1
  end
  redis.call('LTRIM', list, count, -1)
  for _, kept in ipairs(redis.call('XRANGE', KEYS[3], '-', '+')) do
    for field = 1, #kept[2], 2 do
      if kept[2][field] == 'c' and kept[2][field + 1] == id then redis.call('XDEL', KEYS[3], kept[1]) end
    end
  end
  redis.call('LPOP', KEYS[2])
end
return redis.call('LLEN', KEYS[2])`
