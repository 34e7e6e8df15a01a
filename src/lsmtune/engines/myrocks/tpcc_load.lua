-- The database of tpcc.lua: random numbers, statements, schema, population and consistency check.
-- Returns the functions that tpcc.lua needs. Clauses are those of TPC-C revision 5.11.

local ffi = require("ffi")
local bit = require("bit")

local ITEMS = 100000
local CUSTOMERS = 3000
local ORDERS = 3000
local FIRST_NEW_ORDER = 2101
local C_LOAD = 100
local LOAD_DATE = "2000-01-01 00:00:00"
local ROWS_A_STATEMENT = 1000

-- Random numbers ----------------------------------------------------------------------------

local STREAM = {constants = 1, items = 2, warehouse = 3, terminal = 4}
local word_a, word_b, word_c, counter

-- The generator sfc32: an own one, so that no input depends on sysbench's.
local function random_bits()
  local bits = bit.tobit(word_a + word_b + counter)
  counter = bit.tobit(counter + 1)
  word_a = bit.bxor(word_b, bit.rshift(word_b, 9))
  word_b = bit.tobit(word_c + bit.lshift(word_c, 3))
  word_c = bit.tobit(bit.rol(word_c, 21) + bits)
  return bits
end

local function uniform(low, high)
  return low + math.floor((random_bits() % 2^32) / 2^32 * (high - low + 1))
end

local function start_stream(stream, number)
  word_a, word_b, word_c, counter = bit.tobit(sysbench.opt.rand_seed), stream, number, 1
  for _ = 1, 20 do random_bits() end
end

local function shuffle(list)
  for i = #list, 2, -1 do
    local j = uniform(1, i)
    list[i], list[j] = list[j], list[i]
  end
  return list
end

-- NURand of clause 2.1.6.
local function non_uniform(a, x, y, c)
  return (bit.bor(uniform(0, a), uniform(x, y)) + c) % (y - x + 1) + x
end

local LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
local DIGITS = "0123456789"
local ALPHANUMERIC = LETTERS .. DIGITS
local text_buffer = ffi.new("char[?]", 500)

local function text(low, high, characters)
  local length = uniform(low, high)
  for i = 0, length - 1 do text_buffer[i] = characters:byte(uniform(1, #characters)) end
  return ffi.string(text_buffer, length)
end

local function a_string(low, high) return text(low, high, ALPHANUMERIC) end
local function n_string(length) return text(length, length, DIGITS) end
local function letters(length) return text(length, length, LETTERS) end
local function zip() return n_string(4) .. "11111" end
local function rate(high) return ("%.4f"):format(uniform(0, high * 10000) / 10000) end

local function brand_data()
  local data = a_string(26, 50)
  if uniform(1, 10) > 1 then return data end
  local start = uniform(1, #data - 7)
  return data:sub(1, start - 1) .. "ORIGINAL" .. data:sub(start + 8)
end

local SYLLABLES = {
  [0] = "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING",
}

-- Clause 4.3.2.3.
local function last_name(number)
  local hundreds, tens = math.floor(number / 100), math.floor(number / 10) % 10
  return SYLLABLES[hundreds] .. SYLLABLES[tens] .. SYLLABLES[number % 10]
end

-- Statements --------------------------------------------------------------------------------

local driver, connection

local function connect()
  assert(sysbench.opt.warehouses >= 1, "--warehouses must be at least 1")
  driver = sysbench.sql.driver()
  connection = driver:connect()
end

local function disconnect()
  connection:disconnect()
end

local function execute(statement, ...)
  return connection:query(statement:format(...))
end

local function rows(statement, ...)
  local result, list = execute(statement, ...), {}
  for i = 1, result.nrows do list[i] = result:fetch_row() end
  return list
end

local function one_row(statement, ...)
  local list = rows(statement, ...)
  if #list ~= 1 then
    error(("%d rows instead of one for: %s"):format(#list, statement:format(...)), 0)
  end
  return list[1]
end

local function require_warehouses()
  local loaded = tonumber(one_row("SELECT COUNT(*) FROM warehouse")[1])
  if loaded ~= sysbench.opt.warehouses then
    error(("the database has %d warehouses, but --warehouses is %g")
      :format(loaded, sysbench.opt.warehouses), 0)
  end
end

-- Schema (clause 1.3.1) ---------------------------------------------------------------------
-- `name` is the name of the secondary index on `index`.

local ADDRESS = "@_street_1 VARCHAR(20), @_street_2 VARCHAR(20), @_city VARCHAR(20), " ..
  "@_state CHAR(2), @_zip CHAR(9)"

local function address_columns(prefix)
  return (ADDRESS:gsub("@", prefix))
end

local TABLES = {
  {table = "warehouse", primary = "w_id", columns = [[w_id SMALLINT NOT NULL,
    w_name VARCHAR(10), ]] .. address_columns("w") .. [[,
    w_tax DECIMAL(4,4), w_ytd DECIMAL(12,2)]]},
  {table = "district", primary = "d_w_id, d_id", columns = [[d_id TINYINT NOT NULL,
    d_w_id SMALLINT NOT NULL, d_name VARCHAR(10), ]] .. address_columns("d") .. [[,
    d_tax DECIMAL(4,4), d_ytd DECIMAL(12,2), d_next_o_id INT]]},
  {table = "customer", primary = "c_w_id, c_d_id, c_id",
    name = "name", index = "c_w_id, c_d_id, c_last, c_first", columns = [[c_id INT NOT NULL,
    c_d_id TINYINT NOT NULL, c_w_id SMALLINT NOT NULL, c_first VARCHAR(16) NOT NULL,
    c_middle CHAR(2), c_last VARCHAR(16) NOT NULL, ]] .. address_columns("c") .. [[,
    c_phone CHAR(16), c_since DATETIME, c_credit CHAR(2), c_credit_lim DECIMAL(12,2),
    c_discount DECIMAL(4,4), c_balance DECIMAL(12,2), c_ytd_payment DECIMAL(12,2),
    c_payment_cnt SMALLINT, c_delivery_cnt SMALLINT, c_data VARCHAR(500)]]},
  {table = "history", primary = "h_id", columns = [[h_id BIGINT NOT NULL AUTO_INCREMENT,
    h_c_id INT, h_c_d_id TINYINT, h_c_w_id SMALLINT, h_d_id TINYINT, h_w_id SMALLINT,
    h_date DATETIME, h_amount DECIMAL(6,2), h_data VARCHAR(24)]]},
  {table = "new_order", primary = "no_w_id, no_d_id, no_o_id", columns = [[
    no_o_id INT NOT NULL, no_d_id TINYINT NOT NULL, no_w_id SMALLINT NOT NULL]]},
  {table = "orders", primary = "o_w_id, o_d_id, o_id",
    name = "customer", index = "o_w_id, o_d_id, o_c_id, o_id", columns = [[o_id INT NOT NULL,
    o_d_id TINYINT NOT NULL, o_w_id SMALLINT NOT NULL, o_c_id INT NOT NULL, o_entry_d DATETIME,
    o_carrier_id TINYINT, o_ol_cnt TINYINT, o_all_local TINYINT]]},
  {table = "order_line", primary = "ol_w_id, ol_d_id, ol_o_id, ol_number", columns = [[
    ol_o_id INT NOT NULL, ol_d_id TINYINT NOT NULL, ol_w_id SMALLINT NOT NULL,
    ol_number TINYINT NOT NULL, ol_i_id INT, ol_supply_w_id SMALLINT, ol_delivery_d DATETIME,
    ol_quantity TINYINT, ol_amount DECIMAL(6,2), ol_dist_info CHAR(24)]]},
  {table = "item", primary = "i_id", columns = [[i_id INT NOT NULL, i_im_id INT,
    i_name VARCHAR(24), i_price DECIMAL(5,2), i_data VARCHAR(50)]]},
  {table = "stock", primary = "s_w_id, s_i_id", columns = [[s_i_id INT NOT NULL,
    s_w_id SMALLINT NOT NULL, s_quantity SMALLINT, s_dist_01 CHAR(24), s_dist_02 CHAR(24),
    s_dist_03 CHAR(24), s_dist_04 CHAR(24), s_dist_05 CHAR(24), s_dist_06 CHAR(24),
    s_dist_07 CHAR(24), s_dist_08 CHAR(24), s_dist_09 CHAR(24), s_dist_10 CHAR(24), s_ytd INT,
    s_order_cnt SMALLINT, s_remote_cnt SMALLINT, s_data VARCHAR(50)]]},
}

-- MyRocks takes the column family of an index from its comment.
local function family(...)
  if not sysbench.opt.families then return "" end
  return " COMMENT 'cf_" .. table.concat({...}, "_") .. "'"
end

-- Every thread calls it: the server lets the first create a table and the others wait.
local function create_tables()
  for _, t in ipairs(TABLES) do
    local keys = ("PRIMARY KEY (%s)%s"):format(t.primary, family(t.table))
    if t.index then
      keys = ("%s, KEY %s (%s)%s"):format(keys, t.name, t.index, family(t.table, t.name))
    end
    execute([[CREATE TABLE IF NOT EXISTS %s (%s, %s) ENGINE=RocksDB
      DEFAULT CHARSET=latin1 COLLATE=latin1_bin]], t.table, t.columns, keys)
  end
end

local function cleanup()
  for _, t in ipairs(TABLES) do execute("DROP TABLE IF EXISTS %s", t.table) end
end

-- Population (clause 4.3.3.1) ---------------------------------------------------------------
-- Every warehouse has its own random stream: the rows do not depend on the number of threads.

local function inserter(table_name)
  local values, insert = {}, {}
  function insert.flush()
    if #values == 0 then return end
    execute("INSERT INTO %s VALUES %s", table_name, table.concat(values, ","))
    values = {}
  end
  function insert.row(row, ...)
    values[#values + 1] = row:format(...)
    if #values == ROWS_A_STATEMENT then insert.flush() end
  end
  return insert
end

local function address()
  return ("'%s','%s','%s','%s','%s'"):format(
    a_string(10, 20), a_string(10, 20), a_string(10, 20), letters(2), zip())
end

local function load_items()
  start_stream(STREAM.items, 0)
  local item = inserter("item")
  for i_id = 1, ITEMS do
    item.row("(%d,%d,'%s',%.2f,'%s')", i_id, uniform(1, 10000), a_string(14, 24),
      uniform(100, 10000) / 100, brand_data())
  end
  item.flush()
end

local function load_stock(w_id)
  local stock = inserter("stock")
  for i_id = 1, ITEMS do
    local quantity, dist = uniform(10, 100), {}
    for d_id = 1, 10 do dist[d_id] = letters(24) end
    stock.row("(%d,%d,%d,'%s',0,0,0,'%s')",
      i_id, w_id, quantity, table.concat(dist, "','"), brand_data())
  end
  stock.flush()
end

local function customer_row(w_id, d_id, c_id)
  local number = c_id <= 1000 and c_id - 1 or non_uniform(255, 0, 999, C_LOAD)
  local credit = uniform(1, 10) == 1 and "BC" or "GC"
  return ("(%d,%d,%d,'%s','OE','%s',%s,'%s','%s','%s',50000,%s,-10,10,1,0,'%s')"):format(
    c_id, d_id, w_id, a_string(8, 16), last_name(number), address(), n_string(16),
    LOAD_DATE, credit, rate(0.5), a_string(300, 500))
end

-- H_ID is given, since AUTO_INCREMENT would number the rows in the order of arrival.
local function load_customers(w_id, d_id)
  local customer, history = inserter("customer"), inserter("history")
  local before = ((w_id - 1) * 10 + d_id - 1) * CUSTOMERS
  for c_id = 1, CUSTOMERS do
    customer.row("%s", customer_row(w_id, d_id, c_id))
    history.row("(%d,%d,%d,%d,%d,%d,'%s',10,'%s')", before + c_id, c_id, d_id, w_id, d_id, w_id,
      LOAD_DATE, a_string(12, 24))
  end
  customer.flush()
  history.flush()
end

local function order_line_row(w_id, d_id, o_id, number)
  local delivered = o_id < FIRST_NEW_ORDER
  local date = delivered and "'" .. LOAD_DATE .. "'" or "NULL"
  local i_id, cents = uniform(1, ITEMS), delivered and 0 or uniform(1, 999999)
  return ("(%d,%d,%d,%d,%d,%d,%s,5,%.2f,'%s')"):format(
    o_id, d_id, w_id, number, i_id, w_id, date, cents / 100, letters(24))
end

local function load_orders(w_id, d_id)
  local orders, order_line = inserter("orders"), inserter("order_line")
  local new_order, customer_ids = inserter("new_order"), {}
  for c_id = 1, CUSTOMERS do customer_ids[c_id] = c_id end
  shuffle(customer_ids)
  for o_id = 1, ORDERS do
    local line_count, carrier_id = uniform(5, 15), uniform(1, 10)
    if o_id >= FIRST_NEW_ORDER then
      carrier_id = "NULL"
      new_order.row("(%d,%d,%d)", o_id, d_id, w_id)
    end
    orders.row("(%d,%d,%d,%d,'%s',%s,%d,1)",
      o_id, d_id, w_id, customer_ids[o_id], LOAD_DATE, carrier_id, line_count)
    for number = 1, line_count do
      order_line.row("%s", order_line_row(w_id, d_id, o_id, number))
    end
  end
  orders.flush()
  order_line.flush()
  new_order.flush()
end

local function load_warehouse(w_id)
  start_stream(STREAM.warehouse, w_id)
  load_stock(w_id)
  for d_id = 1, 10 do
    execute("INSERT INTO district VALUES (%d,%d,'%s',%s,%s,30000,%d)",
      d_id, w_id, a_string(6, 10), address(), rate(0.2), ORDERS + 1)
    load_customers(w_id, d_id)
    load_orders(w_id, d_id)
  end
  -- Last, since `run` and `check` take the warehouses that exist for the loaded ones.
  execute("INSERT INTO warehouse VALUES (%d,'%s',%s,%s,300000)",
    w_id, a_string(6, 10), address(), rate(0.2))
end

local function prepare()
  create_tables()
  local first = sysbench.tid % sysbench.opt.threads
  if first == 0 then load_items() end
  for w_id = first + 1, sysbench.opt.warehouses, sysbench.opt.threads do load_warehouse(w_id) end
end

-- Consistency (clauses 3.3.2.1 to 3.3.2.4), of a database at rest --------------------------------
-- Each statement counts the warehouses or districts that violate the condition.

local CONDITIONS = {
  [[SELECT COUNT(*) FROM (SELECT w_id FROM warehouse LEFT JOIN district ON d_w_id = w_id
    GROUP BY w_id, w_ytd HAVING NOT (w_ytd <=> SUM(d_ytd))) violations]],
  [[SELECT COUNT(*) FROM district
    LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) last_o_id FROM orders GROUP BY o_w_id, o_d_id) o
    ON o_w_id = d_w_id AND o_d_id = d_id
    LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) last_no_o_id FROM new_order
    GROUP BY no_w_id, no_d_id) n ON no_w_id = d_w_id AND no_d_id = d_id
    WHERE NOT (d_next_o_id - 1 <=> last_o_id) OR d_next_o_id - 1 <> last_no_o_id]],
  [[SELECT COUNT(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id
    HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)) violations]],
  [[SELECT COUNT(*) FROM district
    LEFT JOIN (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) line_count FROM orders
    GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id
    LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) line_rows FROM order_line
    GROUP BY ol_w_id, ol_d_id) l ON ol_w_id = d_w_id AND ol_d_id = d_id
    WHERE NOT (line_count <=> line_rows)]],
}

local function check()
  require_warehouses()
  for number, statement in ipairs(CONDITIONS) do
    io.write(('{"condition": %d, "violations": %s}\n'):format(number, one_row(statement)[1]))
  end
end

return {
  ITEMS = ITEMS, C_LOAD = C_LOAD, STREAM = STREAM,
  start_stream = start_stream, uniform = uniform, non_uniform = non_uniform, shuffle = shuffle,
  last_name = last_name,
  connect = connect, disconnect = disconnect, execute = execute, rows = rows, one_row = one_row,
  require_warehouses = require_warehouses,
  prepare = prepare, check = check, cleanup = cleanup,
}
