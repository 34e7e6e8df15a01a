-- Gets as TiKV does them: whether a key has a value is known before the value is asked for.
--
-- The table `writes` has a row for each key that was written, in the column family writecf; the
-- table `records` has the values, in defaultcf. Both are looked up by their primary keys, for
-- MyRocks asks filters of whole keys for nothing else.

local ffi = require("ffi")

local folder = sysbench.cmdline.script_path:match("^.*/") or ""
local timing = dofile(folder .. "timing.lua")
local drawing = dofile(folder .. "drawing.lua")
local mixed = drawing.mixed

sysbench.cmdline.options = {
  num = {"Number of different keys", 100000},
  present = {"Share of the keys that have a value", 0.5},
  skew = {"Keys are asked for by rank num * e^-u, u even from 0 to this; 0: all alike", 0},
  operations = {"Operations of each thread", 100000},
  key_size = {"Characters of a key", 16},
  value_size = {"Bytes of a value", 100},
  compression_ratio = {"Share of a value that is random", 0.5},
}

local ROWS_A_STATEMENT = 250
local STREAM = 2^40

local opt, connection, multiplier
local latency = {}

local function spread(rank)
  return tonumber(ffi.cast("uint64_t", rank) * multiplier % ffi.cast("uint64_t", opt.num))
end

-- Even from 0 to below 1.
local function drawn(seed, thread_id, number)
  local word = mixed(mixed(ffi.cast("uint64_t", seed)) + STREAM * (thread_id + 1) + number)
  return tonumber(word / 2048ULL) / 2^53
end

local function has_value(number)
  return tonumber(mixed(ffi.cast("uint64_t", number)) / 2048ULL) / 2^53 < opt.present
end

local function asked(thread_id, number)
  local even = drawn(opt.rand_seed, thread_id, number)
  local share = opt.skew > 0 and math.exp(-even * opt.skew) or even
  return spread(math.floor(share * opt.num))
end

local function key_of(number)
  return ("%0" .. opt.key_size .. "d"):format(number)
end

-- The tables ------------------------------------------------------------------------------------

local function connect()
  opt = sysbench.opt  -- not there yet when the script is read
  multiplier = drawing.multiplier(opt.num)
  connection = sysbench.sql.driver():connect()
end

local function insert(values, numbers)
  local writes, records = {}, {}
  for at, number in ipairs(numbers) do
    writes[at] = ("('%s',%d)"):format(key_of(number), number)
    records[at] = ("('%s',%d,'%s')"):format(key_of(number), number, values[number % values.pieces])
  end
  connection:query("BEGIN")
  connection:query("INSERT INTO records VALUES " .. table.concat(records, ","))
  connection:query("INSERT INTO writes VALUES " .. table.concat(writes, ","))
  connection:query("COMMIT")
end

function prepare()
  connect()
  connection:query(([[CREATE TABLE writes (k VARBINARY(%d) NOT NULL, version BIGINT NOT NULL,
    PRIMARY KEY (k) COMMENT 'writecf') ENGINE = RocksDB]]):format(opt.key_size))
  connection:query(([[CREATE TABLE records (k VARBINARY(%d) NOT NULL, version BIGINT NOT NULL,
    v VARBINARY(%d) NOT NULL, PRIMARY KEY (k, version) COMMENT 'defaultcf') ENGINE = RocksDB
    ]]):format(opt.key_size, opt.value_size))
  connection:query("SET unique_checks = 0")
  local values, numbers = drawing.values(opt), {}
  for rank = 0, opt.num - 1 do
    local number = spread(rank)
    if has_value(number) then numbers[#numbers + 1] = number end
    if #numbers == ROWS_A_STATEMENT or (rank == opt.num - 1 and #numbers > 0) then
      insert(values, numbers)
      numbers = {}
    end
  end
end

-- The gets --------------------------------------------------------------------------------------

local GET = "SELECT v FROM writes JOIN records USING (k, version) WHERE writes.k = '%s'"

local function get(number)
  local found = connection:query(GET:format(key_of(number)))
  for _ = 1, found.nrows do found:fetch_row() end
  if (tonumber(found.nrows) == 1) ~= has_value(number) then
    error(("FATAL: a get has found %d records"):format(tonumber(found.nrows)))
  end
  return tonumber(found.nrows)
end

function thread_init()
  connect()
end

function thread_done()
  connection:disconnect()
end

function event() end

-- One write a line, so that the lines of the threads do not mix.
local function print_result(thread_id, start_s, end_s, found)
  io.write(([[{"lookup":{"thread":%d,"start_s":%.6f,"end_s":%.6f,"operations":%d,"found":%d,"latency":%s}}]])
    :format(thread_id, start_s, end_s, opt.operations, found, timing.latency_json(latency)) .. "\n")
  io.flush()
end

function thread_run(thread_id)
  local started_s, found = timing.monotonic_s(), 0
  for number = 0, opt.operations - 1 do
    local key = asked(thread_id, number)
    ffi.C.sb_event_start(thread_id)
    local before_s = timing.monotonic_s()
    found = found + get(key)
    timing.count(latency, timing.monotonic_s() - before_s)
    ffi.C.sb_event_stop(thread_id)
  end
  print_result(thread_id, started_s, timing.monotonic_s(), found)
end
