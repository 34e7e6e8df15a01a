-- Numbers and values as records.lua and lookup.lua draw them.

local ffi = require("ffi")
local bit = require("bit")

local TEXT_BYTES = 2^20
local LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"

-- splitmix64 (Steele, Lea, Flood 2014).
local function mixed(number)
  number = (number + 1) * 0x9E3779B97F4A7C15ULL
  number = bit.bxor(number, bit.rshift(number, 30)) * 0xBF58476D1CE4E5B9ULL
  number = bit.bxor(number, bit.rshift(number, 27)) * 0x94D049BB133111EBULL
  return bit.bxor(number, bit.rshift(number, 31))
end

-- The values of a load, from 0 on, and how many there are.
local function values(opt)
  local size = opt.value_size
  local made = {pieces = math.max(1, math.floor(TEXT_BYTES / size))}
  local random = math.max(1, math.floor(size * opt.compression_ratio))
  local piece, drawn = ffi.new("char[?]", size), 0ULL
  for number = 0, made.pieces - 1 do
    for at = 0, size - 1 do
      if at < random then
        piece[at] = LETTERS:byte(tonumber(mixed(drawn) % 64ULL) + 1)
        drawn = drawn + 1
      else
        piece[at] = piece[at - random]
      end
    end
    made[number] = ffi.string(piece, size)
  end
  return made
end

local function common_divisor(a, b)
  while b > 0 do a, b = b, a % b end
  return a
end

-- By what ranks below num are multiplied, modulo num, to be spread over the keys, each to one of its
-- own. db_bench's number, or the next that shares no factor with num: its own, 13 * 199 * 457 * 1303,
-- would leave keys out and meet others several times.
local function multiplier(num)
  local found = 0x5bd1e995
  while common_divisor(found, num) > 1 do found = found + 1 end
  return ffi.cast("uint64_t", found)
end

return {mixed = mixed, values = values, multiplier = multiplier}
