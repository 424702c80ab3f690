-- The load of one wrk run. Environment:
--   LOAD_PATH    request target; a verb such as %08d takes a number below LOAD_NUMBERS, uniformly;
--                that of a POST has verbs as its body has
--   LOAD_NUMBERS numbers that LOAD_PATH may take
--   LOAD_TARGETS a file of request targets, one a line, used in place of LOAD_PATH, uniformly
--   LOAD_HEADERS lines "Name: value"
--   LOAD_BODY    body of a POST; in it become, each time anew, {id} a random id, {uuid} a UUID,
--                {number} eight digits below LOAD_NUMBERS, {again} the number before it once more,
--                {time} an instant of 2026's second quarter, {live} one of the school day after it
--   LOAD_SEED    seed; two runs with different seeds never make the same ids
-- Prints one line of JSON.

local path, numbers = os.getenv("LOAD_PATH"), tonumber(os.getenv("LOAD_NUMBERS") or "0")
local template = os.getenv("LOAD_BODY")
local targets, ready, parts, steps = nil, nil, nil, nil

local function read_lines(name)
  local lines = {}
  for line in io.lines(name) do lines[#lines + 1] = line end
  return lines
end

local APRIL, DAYS = 1775001600, 90

local fill = {}

function fill.id()
  return string.format("w-%08x%08x%08x", math.random(0, 0xfffffff), math.random(0, 0xfffffff), math.random(0, 0xfffffff))
end

function fill.uuid()
  return string.format("%08x-%04x-4%03x-a%03x-%06x%06x", math.random(0, 0xfffffff), math.random(0, 0xffff),
    math.random(0, 0xfff), math.random(0, 0xfff), math.random(0, 0xffffff), math.random(0, 0xffffff))
end

local drawn

function fill.number()
  drawn = string.format("%08d", math.random(0, numbers - 1))
  return drawn
end

function fill.again()
  return drawn
end

local function instant(second)
  return os.date("!%Y-%m-%dT%H:%M:%S", second) .. string.format(".%03dZ", math.random(0, 999))
end

function fill.time()
  return instant(APRIL + math.random(0, DAYS * 86400 - 1))
end

function fill.live()
  return instant(APRIL + DAYS * 86400 + math.random(8 * 3600, 16 * 3600))
end

-- Texts and, between them, functions.
local function split_at_verbs(text)
  local pieces, from = {}, 1
  while true do
    local first, last, verb = text:find("{(%a+)}", from)
    if not first then break end
    pieces[#pieces + 1] = text:sub(from, first - 1)
    pieces[#pieces + 1] = fill[verb]
    from = last + 1
  end
  pieces[#pieces + 1] = text:sub(from)
  return pieces
end

local function filled(pieces)
  local texts = {}
  for i, piece in ipairs(pieces) do
    texts[i] = type(piece) == "string" and piece or piece()
  end
  return table.concat(texts)
end

function init()
  math.randomseed(tonumber(os.getenv("LOAD_SEED") or "1"))
  for name, value in (os.getenv("LOAD_HEADERS") or ""):gmatch("([^\n]-): ([^\n]+)") do
    wrk.headers[name] = value
  end
  if os.getenv("LOAD_TARGETS") then
    targets = read_lines(os.getenv("LOAD_TARGETS"))
    for i, target in ipairs(targets) do targets[i] = wrk.format("GET", target) end
  elseif template then
    wrk.headers["Content-Type"] = wrk.headers["Content-Type"] or "application/json"
    parts, steps = split_at_verbs(template), split_at_verbs(path)
    if #parts == 1 and #steps == 1 then ready = wrk.format("POST", path, nil, template) end
  elseif numbers == 0 then
    ready = wrk.format("GET", path)
  end
end

function request()
  if ready then return ready end
  if targets then return targets[math.random(#targets)] end
  if parts then return wrk.format("POST", filled(steps), nil, filled(parts)) end
  return wrk.format("GET", string.format(path, math.random(0, numbers - 1)))
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"bytes":%d,"seconds":%.6f,"p50_ms":%.4f,"p99_ms":%.4f,"refused":%d,"broken":%d}\n',
    summary.requests, summary.bytes, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
