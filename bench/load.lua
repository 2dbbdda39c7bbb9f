-- load.lua - the requests of wrk: arguments are the path, the file with the body, the bearer token and
-- the prefix of the idempotency keys ("-": none; else every request has a key of its own). A body that names a run
-- "run-00000000" has another one in its place for each 25 requests.
local RUN, CALLS = "run-00000000", 25
local before, after, rest, fixed
local n, first = 0, 0

function init(args)
   local path, file, token, prefix = args[1], args[2], args[3], args[4]
   local body = io.open(file, "rb"):read("*a")
   before = "POST " .. path .. " HTTP/1.1\r\nHost: " .. wrk.headers["Host"] ..
      "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream" ..
      "\r\nAuthorization: Bearer " .. token .. "\r\nContent-Length: " .. #body .. "\r\n"
   after = "\r\n\r\n" .. body
   local at = after:find(RUN, 1, true)
   if at then
      after, rest = after:sub(1, at - 1), after:sub(at + #RUN)
      first = tonumber(prefix:match("%d+")) * 100000
   end
   if prefix == "-" then
      fixed = before .. after:sub(3)
   else
      before = before .. "Idempotency-Key: " .. prefix .. "-"
   end
end

function request()
   if fixed then
      return fixed
   end
   n = n + 1
   if rest then
      return before .. n .. after .. string.format("run-%08d", first + math.floor(n / CALLS)) .. rest
   end
   return before .. n .. after
end

function done(summary, latency)
   local e = summary.errors
   print(string.format(
      'RESULT {"requests":%d,"us":%d,"errors":%d,"p50_us":%d,"p99_us":%d,"max_us":%d}',
      summary.requests, summary.duration, e.connect + e.read + e.write + e.status + e.timeout,
      latency:percentile(50), latency:percentile(99), latency.max))
end
