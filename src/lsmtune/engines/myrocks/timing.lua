-- Time and histograms, as tpcc.lua and records.lua tell them: buckets that are 2 % wide.

local ffi = require("ffi")

ffi.cdef [[
typedef struct { long tv_sec; long tv_nsec; } lsmtune_timespec;
int clock_gettime(int clock, lsmtune_timespec *time);
]]

local CLOCK_MONOTONIC = 1
local WIDTH = 1.02

local function monotonic_s()
  local time = ffi.new("lsmtune_timespec")
  ffi.C.clock_gettime(CLOCK_MONOTONIC, time)
  return tonumber(time.tv_sec) + tonumber(time.tv_nsec) / 1e9
end

local function count(latency, seconds)
  local bucket = math.floor(math.log(math.max(seconds * 1e6, 1)) / math.log(WIDTH))
  latency[bucket] = (latency[bucket] or 0) + 1
end

local function latency_json(latency)
  local buckets, pairs_json = {}, {}
  for bucket in pairs(latency) do buckets[#buckets + 1] = bucket end
  table.sort(buckets)
  for i, bucket in ipairs(buckets) do
    pairs_json[i] = ("[%d,%d]"):format(bucket, latency[bucket])
  end
  return "[" .. table.concat(pairs_json, ",") .. "]"
end

return {monotonic_s = monotonic_s, count = count, latency_json = latency_json}
