-- A load derived from TPC Benchmark C (specification revision 5.11), as a script for sysbench 1.0
-- against MariaDB with the RocksDB engine. Written from the specification; its results are not
-- TPC results and must not be compared with any. Commands: prepare, run, check, cleanup.
--
-- It differs from the specification in these points:
-- * No terminals: no screens, no menu, no keying or think times (clause 5.2). Values that only a
--   screen would show are read from the database but not computed (total-amount, brand-generic).
--   A thread stands for one terminal, with a fixed home warehouse and stock-level district.
-- * Delivery runs directly, all ten districts in one database transaction, without queue and
--   result file (clause 2.7.2). Skipped districts are counted.
-- * An attempt ended by a deadlock, a lock timeout or a snapshot conflict is rolled back and
--   repeated with the same inputs, at most MAX_RETRIES times.
-- * The isolation level is the server's. It is meant to be READ COMMITTED, which is less than
--   clause 3.4 asks for: MyRocks has no SERIALIZABLE. Updates are protected by row locks.
-- * No foreign keys (MyRocks has none); HISTORY has an added key H_ID (1.3.1, 1.4.7).
-- * The lines of an order are entered in the order of warehouse and item, so that all
--   transactions lock STOCK in one order.
-- * A last name's customers are read from its index alone, then the middle one from its row;
--   C_DATA is rewritten by the UPDATE without being fetched.
-- * Loaded rows carry a fixed date, and C-Load (2.1.6.1) is fixed, so that loads repeat exactly.
--   Transactions use the server's current time.
-- * Rolled back New-Order transactions are reported apart; clause 5.4.2 would count them.
--
-- Transactions are drawn from a shuffled deck of 23 cards a thread (5.2.4.2). All inputs depend
-- only on --rand-seed, --warehouses, --threads and --events: thread t runs its share of the
-- events on its own random stream. With --events=0 --time=S the clock ends the run.

local ffi = require("ffi")

ffi.cdef [[
void _exit(int status);
]]

sysbench.cmdline.options = {
  warehouses = {"Number of warehouses", 2},
  families = {"A RocksDB column family for every table and index", false},
}

local MAX_RETRIES = 10
local NAMES = {"new_order", "payment", "order_status", "delivery", "stock_level"}
local CARDS = {new_order = 10, payment = 10, order_status = 1, delivery = 1, stock_level = 1}

local folder = sysbench.cmdline.script_path:match("^.*/") or ""
local base = dofile(folder .. "tpcc_load.lua")
local timing = dofile(folder .. "timing.lua")
local monotonic_s = timing.monotonic_s
local uniform, non_uniform = base.uniform, base.non_uniform
local execute, rows, one_row = base.execute, base.rows, base.one_row

-- Inputs of the transactions (clauses 2.4.1 to 2.8.1) -------------------------------------------

local terminal = {}
local c_run = {}

-- The same constants for all terminals (2.1.6); C_LAST's keeps its distance to C-Load (2.1.6.1).
local function draw_constants()
  base.start_stream(base.STREAM.constants, 0)
  local delta
  repeat delta = uniform(65, 119) until delta ~= 96 and delta ~= 112
  c_run.c_last = base.C_LOAD + delta
  c_run.c_id = uniform(0, 1023)
  c_run.ol_i_id = uniform(0, 8191)
end

local function remote_warehouse()
  local others = sysbench.opt.warehouses - 1
  if others == 0 then return terminal.w_id end
  local w_id = uniform(1, others)
  return w_id < terminal.w_id and w_id or w_id + 1
end

local function draw_customer(w_id, d_id)
  local customer = {w_id = w_id, d_id = d_id}
  if uniform(1, 100) <= 60 then
    customer.last = base.last_name(non_uniform(255, 0, 999, c_run.c_last))
  else
    customer.id = non_uniform(1023, 1, 3000, c_run.c_id)
  end
  return customer
end

local function before_in_stock(line, other)
  if line.supply_w_id ~= other.supply_w_id then return line.supply_w_id < other.supply_w_id end
  return line.i_id < other.i_id
end

local function draw_lines()
  local lines = {}
  for i = 1, uniform(5, 15) do
    local i_id = non_uniform(8191, 1, base.ITEMS, c_run.ol_i_id)
    local supply_w_id = uniform(1, 100) == 1 and remote_warehouse() or terminal.w_id
    lines[i] = {i_id = i_id, supply_w_id = supply_w_id, quantity = uniform(1, 10)}
  end
  table.sort(lines, before_in_stock)
  return lines
end

local draw = {}

function draw.new_order()
  local input = {d_id = uniform(1, 10), c_id = non_uniform(1023, 1, 3000, c_run.c_id)}
  input.lines = draw_lines()
  input.all_local = 1
  for _, line in ipairs(input.lines) do
    if line.supply_w_id ~= terminal.w_id then input.all_local = 0 end
  end
  if uniform(1, 100) == 1 then input.lines[#input.lines].i_id = base.ITEMS + 1 end
  return input
end

function draw.payment()
  local input = {d_id = uniform(1, 10), amount = ("%.2f"):format(uniform(100, 500000) / 100)}
  if uniform(1, 100) <= 85 then
    input.customer = draw_customer(terminal.w_id, input.d_id)
  else
    input.customer = draw_customer(remote_warehouse(), uniform(1, 10))
  end
  return input
end

function draw.order_status()
  return draw_customer(terminal.w_id, uniform(1, 10))
end

function draw.delivery()
  return uniform(1, 10)
end

function draw.stock_level()
  return uniform(10, 20)
end

-- Profiles of the transactions (clauses 2.4.2 to 2.8.2) -----------------------------------------
-- A profile returns true to commit and false to roll back; delivery adds its skipped districts.
-- Where a table has a second index, FORCE INDEX keeps the plan from following the optimizer's
-- statistics: after a load they may favour a range of 3000 customers over the primary key.

-- Clauses 2.5.2.2 and 2.6.2.2: by last name, the middle one in the order of first names.
local function find_customer(customer)
  if customer.id then return customer.id end
  local named = rows([[SELECT c_id FROM customer FORCE INDEX (name)
    WHERE c_w_id = %d AND c_d_id = %d AND c_last = '%s' ORDER BY c_first]],
    customer.w_id, customer.d_id, customer.last)
  local middle = named[math.ceil(#named / 2)] or error("no customer " .. customer.last, 0)
  return tonumber(middle[1])
end

local function next_order_number(d_id)
  local district = one_row([[SELECT d_next_o_id, d_tax FROM district
    WHERE d_w_id = %d AND d_id = %d FOR UPDATE]], terminal.w_id, d_id)
  local o_id = tonumber(district[1])
  execute("UPDATE district SET d_next_o_id = %d WHERE d_w_id = %d AND d_id = %d",
    o_id + 1, terminal.w_id, d_id)
  return o_id
end

local function take_from_stock(line, d_id)
  local stock = one_row([[SELECT s_quantity, s_dist_%02d, s_data FROM stock
    WHERE s_w_id = %d AND s_i_id = %d FOR UPDATE]], d_id, line.supply_w_id, line.i_id)
  local left = tonumber(stock[1]) - line.quantity
  if left < 10 then left = left + 91 end
  local remote = line.supply_w_id ~= terminal.w_id and 1 or 0
  execute([[UPDATE stock SET s_quantity = %d, s_ytd = s_ytd + %d, s_order_cnt = s_order_cnt + 1,
    s_remote_cnt = s_remote_cnt + %d WHERE s_w_id = %d AND s_i_id = %d]],
    left, line.quantity, remote, line.supply_w_id, line.i_id)
  return stock[2]
end

local function order_line(o_id, d_id, number, line)
  local item = rows("SELECT i_price, i_name, i_data FROM item WHERE i_id = %d", line.i_id)[1]
  if not item then return nil end
  local dist_info = take_from_stock(line, d_id)
  return ("(%d,%d,%d,%d,%d,%d,NULL,%d,%.2f,'%s')"):format(o_id, d_id, terminal.w_id, number,
    line.i_id, line.supply_w_id, line.quantity, line.quantity * tonumber(item[1]), dist_info)
end

local profile = {}

function profile.new_order(input)
  local w_id, d_id = terminal.w_id, input.d_id
  one_row("SELECT w_tax FROM warehouse WHERE w_id = %d", w_id)
  local o_id = next_order_number(d_id)
  one_row([[SELECT c_discount, c_last, c_credit FROM customer
    WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d]], w_id, d_id, input.c_id)
  execute("INSERT INTO orders VALUES (%d, %d, %d, %d, NOW(), NULL, %d, %d)",
    o_id, d_id, w_id, input.c_id, #input.lines, input.all_local)
  execute("INSERT INTO new_order VALUES (%d, %d, %d)", o_id, d_id, w_id)
  local valid = {}
  for number, line in ipairs(input.lines) do
    valid[#valid + 1] = order_line(o_id, d_id, number, line)
  end
  -- Even an order to be rolled back inserts its valid lines first (2.4.2.3).
  execute("INSERT INTO order_line VALUES %s", table.concat(valid, ","))
  return #valid == #input.lines
end

local function pay_to_warehouse(amount)
  execute("UPDATE warehouse SET w_ytd = w_ytd + %s WHERE w_id = %d", amount, terminal.w_id)
  return one_row([[SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse
    WHERE w_id = %d]], terminal.w_id)[1]
end

local function pay_to_district(amount, d_id)
  execute("UPDATE district SET d_ytd = d_ytd + %s WHERE d_w_id = %d AND d_id = %d",
    amount, terminal.w_id, d_id)
  return one_row([[SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district
    WHERE d_w_id = %d AND d_id = %d]], terminal.w_id, d_id)[1]
end

local function pay_from_customer(input, c_id)
  local c_w_id, c_d_id = input.customer.w_id, input.customer.d_id
  local credit = one_row([[SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2,
    c_city, c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance FROM customer
    WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d FOR UPDATE]], c_w_id, c_d_id, c_id)[1]
  local note = ""
  if credit == "BC" then
    note = (", c_data = LEFT(CONCAT('%d %d %d %d %d %s ', c_data), 500)")
      :format(c_id, c_d_id, c_w_id, input.d_id, terminal.w_id, input.amount)
  end
  execute([[UPDATE customer FORCE INDEX (PRIMARY) SET c_balance = c_balance - %s,
    c_ytd_payment = c_ytd_payment + %s, c_payment_cnt = c_payment_cnt + 1%s
    WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d]],
    input.amount, input.amount, note, c_w_id, c_d_id, c_id)
end

function profile.payment(input)
  local customer = input.customer
  local w_name = pay_to_warehouse(input.amount)
  local d_name = pay_to_district(input.amount, input.d_id)
  local c_id = find_customer(customer)
  pay_from_customer(input, c_id)
  execute("INSERT INTO history VALUES (NULL, %d, %d, %d, %d, %d, NOW(), %s, '%s    %s')", c_id,
    customer.d_id, customer.w_id, input.d_id, terminal.w_id, input.amount, w_name, d_name)
  return true
end

function profile.order_status(customer)
  local w_id, d_id = customer.w_id, customer.d_id
  local c_id = find_customer(customer)
  one_row([[SELECT c_balance, c_first, c_middle, c_last FROM customer
    WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d]], w_id, d_id, c_id)
  local order = one_row([[SELECT o_id, o_entry_d, o_carrier_id FROM orders FORCE INDEX (customer)
    WHERE o_w_id = %d AND o_d_id = %d AND o_c_id = %d ORDER BY o_id DESC LIMIT 1]],
    w_id, d_id, c_id)
  rows([[SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
    WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %s]], w_id, d_id, order[1])
  return true
end

-- Returns nil when the district has no new order. The deleted row is counted: where a concurrent
-- delivery took it while this one waited for its lock, READ COMMITTED shows the next one.
local function take_oldest_new_order(d_id)
  while true do
    local oldest = rows([[SELECT no_o_id FROM new_order WHERE no_w_id = %d AND no_d_id = %d
      ORDER BY no_o_id LIMIT 1]], terminal.w_id, d_id)[1]
    if not oldest then return nil end
    local deleted = rows([[DELETE FROM new_order WHERE no_w_id = %d AND no_d_id = %d
      AND no_o_id = %s RETURNING no_o_id]], terminal.w_id, d_id, oldest[1])
    if #deleted == 1 then return oldest[1] end
  end
end

local function deliver(d_id, o_id, carrier_id)
  local w_id = terminal.w_id
  local c_id = one_row([[SELECT o_c_id FROM orders
    WHERE o_w_id = %d AND o_d_id = %d AND o_id = %s FOR UPDATE]], w_id, d_id, o_id)[1]
  execute([[UPDATE orders FORCE INDEX (PRIMARY) SET o_carrier_id = %d
    WHERE o_w_id = %d AND o_d_id = %d AND o_id = %s]], carrier_id, w_id, d_id, o_id)
  execute([[UPDATE order_line SET ol_delivery_d = NOW()
    WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %s]], w_id, d_id, o_id)
  local amount = one_row([[SELECT SUM(ol_amount) FROM order_line
    WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %s]], w_id, d_id, o_id)[1]
  execute([[UPDATE customer FORCE INDEX (PRIMARY) SET c_balance = c_balance + %s,
    c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = %d AND c_d_id = %d AND c_id = %s]],
    amount, w_id, d_id, c_id)
end

function profile.delivery(carrier_id)
  local skipped = 0
  for d_id = 1, 10 do
    local o_id = take_oldest_new_order(d_id)
    if o_id then deliver(d_id, o_id, carrier_id) else skipped = skipped + 1 end
  end
  return true, skipped
end

-- STRAIGHT_JOIN for the same reason as FORCE INDEX above.
function profile.stock_level(threshold)
  local w_id, d_id = terminal.w_id, terminal.d_id
  local next_o_id = one_row([[SELECT d_next_o_id FROM district
    WHERE d_w_id = %d AND d_id = %d]], w_id, d_id)[1]
  one_row([[SELECT COUNT(DISTINCT s_i_id) FROM order_line
    STRAIGHT_JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id >= %d AND ol_o_id < %d
    AND s_quantity < %d]], w_id, d_id, next_o_id - 20, next_o_id, threshold)
  return true
end

-- Run ---------------------------------------------------------------------------------------

local results = {}
local deck = {}

local function message_of(problem)
  return type(problem) == "table" and problem.sql_errmsg or tostring(problem)
end

local function is_restart(problem)
  return type(problem) == "table" and problem.errcode == sysbench.error.RESTART_EVENT
end

local function next_card()
  if #deck == 0 then
    for _, name in ipairs(NAMES) do
      for _ = 1, CARDS[name] do deck[#deck + 1] = name end
    end
    base.shuffle(deck)
  end
  return table.remove(deck)
end

local function attempt(name, input)
  execute("BEGIN")
  local keep, skipped = profile[name](input)
  execute(keep and "COMMIT" or "ROLLBACK")
  return keep, skipped
end

local function count_outcome(result, keep, skipped, seconds)
  if not keep then
    result.rollbacks = result.rollbacks + 1
    return
  end
  result.commits = result.commits + 1
  result.skipped = result.skipped + (skipped or 0)
  timing.count(result.latency, seconds)
end

local function run_transaction(name)
  local result, input = results[name], draw[name]()
  local start_s, retries = monotonic_s(), 0
  while true do
    local ok, keep, skipped = pcall(attempt, name, input)
    if ok then return count_outcome(result, keep, skipped, monotonic_s() - start_s) end
    if not is_restart(keep) then error(keep, 0) end
    execute("ROLLBACK")
    if retries == MAX_RETRIES then
      result.failures = result.failures + 1
      error(("%s gave up after %d retries: %s"):format(name, retries, message_of(keep)), 0)
    end
    retries = retries + 1
    result.retries = result.retries + 1
  end
end

local function share_of_events(thread_id)
  local events, threads = sysbench.opt.events, sysbench.opt.threads
  if events == 0 then return math.huge end
  return math.floor(events / threads) + (thread_id < events % threads and 1 or 0)
end

-- sysbench counts every call of sb_more_events against --events: asking only for the own share,
-- the last thread to ask is never refused, and --time and errors elsewhere still end the loop.
local function run_share(thread_id)
  local left = share_of_events(thread_id)
  while left > 0 and ffi.C.sb_more_events(thread_id) do
    ffi.C.sb_event_start(thread_id)
    event(thread_id)
    ffi.C.sb_event_stop(thread_id)
    left = left - 1
  end
end

local function result_json(name)
  local result = results[name]
  return ([["%s":{"commits":%d,"rollbacks":%d,"retries":%d,"failures":%d,"skipped":%d,]] ..
    [["latency":%s}]]):format(name, result.commits, result.rollbacks, result.retries,
    result.failures, result.skipped, timing.latency_json(result.latency))
end

local function thread_json(thread_id, start_s, end_s)
  local types = {}
  for i, name in ipairs(NAMES) do types[i] = result_json(name) end
  return ([[{"tpcc":{"thread":%d,"start_s":%.6f,"end_s":%.6f,"elapsed_s":%.6f,]] ..
    [["transactions":{%s}}}]]):format(thread_id, start_s, end_s, end_s - start_s,
    table.concat(types, ","))
end

function thread_init(thread_id)
  base.connect()
  base.require_warehouses()
  local warehouses = sysbench.opt.warehouses
  terminal.w_id = thread_id % warehouses + 1
  terminal.d_id = math.floor(thread_id / warehouses) % 10 + 1
  for _, name in ipairs(NAMES) do
    results[name] = {
      commits = 0, rollbacks = 0, retries = 0, failures = 0, skipped = 0, latency = {},
    }
  end
  draw_constants()
  base.start_stream(base.STREAM.terminal, thread_id)
end

function event()
  run_transaction(next_card())
end

-- One write a line, so that the lines of the threads do not mix.
function thread_run(thread_id)
  local start_s = monotonic_s()
  local ok, problem = pcall(run_share, thread_id)
  io.write(thread_json(thread_id, start_s, monotonic_s()) .. "\n")
  io.flush()
  if not ok then error(message_of(problem), 0) end
end

function thread_done()
  base.disconnect()
end

-- Commands ----------------------------------------------------------------------------------

-- sysbench ignores the outcome of a parallel command's threads: a failed one would exit with 0.
local function command(action)
  return function()
    local ok, problem = pcall(function()
      base.connect()
      action()
      base.disconnect()
    end)
    if not ok then
      io.stderr:write("FATAL: ", message_of(problem), "\n")
      ffi.C._exit(1)
    end
  end
end

sysbench.cmdline.commands = {
  prepare = {command(base.prepare), sysbench.cmdline.PARALLEL_COMMAND},
  check = {command(base.check)},
  cleanup = {command(base.cleanup)},
}
