-- db_bench's random writes and reads as SQL: one table of keys and values, a statement an operation.
--
-- Which key and value an operation has is a pure function of --rand-seed, thread and its number, so
-- that keys that were written are found again without a list of them.

local ffi = require("ffi")
local bit = require("bit")

local folder = sysbench.cmdline.script_path:match("^.*/") or ""
local timing = dofile(folder .. "timing.lua")
local drawing = dofile(folder .. "drawing.lua")
local mixed = drawing.mixed

sysbench.cmdline.options = {
  part = {"What is run: write, get, get_missing or scan", "write"},
  num = {"Number of different keys", 100000},
  operations = {"Operations of each thread", 100000},
  written = {"Writes of each thread that reads look for", 100000},
  clients = {"Number of threads that wrote", 1},
  key_size = {"Characters of a key", 16},
  value_size = {"Bytes of a value", 100},
  compression_ratio = {"Share of a value that is random", 0.5},
  scan_length = {"Records of a scan", 10},
}

local KIND = {get = 1ULL, get_missing = 2ULL, scan = 3ULL}

local opt, connection
local values
local latency = {}

-- The load -----------------------------------------------------------------------------------

local function key_of(client, operation)
  local drawn = mixed(ffi.cast("uint64_t", opt.rand_seed)) + bit.lshift(1ULL * client, 40)
  local number = tonumber(mixed(drawn + operation) % ffi.cast("uint64_t", opt.num))
  return ("%0" .. opt.key_size .. "d"):format(number)
end

-- The operations --------------------------------------------------------------------------------

local function key_that_was_written(kind, number)
  local drawn = mixed(mixed(bit.bxor(ffi.cast("uint64_t", opt.rand_seed), kind)) + number)
  local client = drawn % ffi.cast("uint64_t", opt.clients)
  return key_of(client, mixed(drawn) % ffi.cast("uint64_t", opt.written))
end

local GET = "SELECT v FROM records WHERE k = '%s'"

local statement = {}

function statement.write(thread_id, number)
  return ("REPLACE INTO records VALUES ('%s', '%s')"):format(
    key_of(thread_id, number), values[number % values.pieces])
end

function statement.get(_, number)
  return GET:format(key_that_was_written(KIND.get, number))
end

-- A key that is not there has a character more.
function statement.get_missing(_, number)
  return GET:format(key_that_was_written(KIND.get_missing, number) .. ".")
end

function statement.scan(_, number)
  return ("SELECT v FROM records WHERE k >= '%s' ORDER BY k LIMIT %d"):format(
    key_that_was_written(KIND.scan, number), opt.scan_length)
end

local FOUND = {get = 1, get_missing = 0}

local function execute(part, text)
  local found = connection:query(text)
  if part == "write" then return end
  for _ = 1, found.nrows do found:fetch_row() end
  if FOUND[part] and tonumber(found.nrows) ~= FOUND[part] then
    error(("FATAL: %s has found %d records"):format(part, tonumber(found.nrows)))
  end
end

-- What sysbench calls ---------------------------------------------------------------------------

local function connect()
  opt = sysbench.opt  -- not there yet when the script is read
  connection = sysbench.sql.driver():connect()
end

function prepare()
  connect()
  connection:query(("CREATE TABLE records (k VARBINARY(%d) PRIMARY KEY, v VARBINARY(%d) NOT NULL) " ..
    "ENGINE = RocksDB"):format(opt.key_size + 1, opt.value_size))
end

function thread_init()
  connect()
  values = drawing.values(opt)
end

function thread_done()
  connection:disconnect()
end

function event() end

-- One write a line, so that the lines of the threads do not mix.
local function print_result(thread_id, start_s, end_s)
  io.write(([[{"records":{"thread":%d,"start_s":%.6f,"end_s":%.6f,"operations":%d,"latency":%s}}]])
    :format(thread_id, start_s, end_s, opt.operations, timing.latency_json(latency)) .. "\n")
  io.flush()
end

function thread_run(thread_id)
  local started_s = timing.monotonic_s()
  for number = 0, opt.operations - 1 do
    local text = statement[opt.part](thread_id, number)
    ffi.C.sb_event_start(thread_id)
    local before_s = timing.monotonic_s()
    execute(opt.part, text)
    timing.count(latency, timing.monotonic_s() - before_s)
    ffi.C.sb_event_stop(thread_id)
  end
  print_result(thread_id, started_s, timing.monotonic_s())
end
