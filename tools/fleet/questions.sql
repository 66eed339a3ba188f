-- SPDX-License-Identifier: GPL-2.0-or-later
-- What people ask of a fleet: plain SQL over the views of duckdb.sql or clickhouse.sql. Percent are
-- of the time that the CPUs were measured. Add WHERE day >= ... to any of them.

-- 1. Which hosts lose most?
SELECT host, round(100.0 * sum(lost_ns) / sum(observed_ns), 4) AS lost_percent,
       max(max_ns) / 1000 AS worst_us, sum(hiccups) AS hiccups_n
FROM cpu_minutes GROUP BY host
ORDER BY 1.0 * sum(lost_ns) / sum(observed_ns) DESC, host LIMIT 20;

-- 2. What costs most?
SELECT kind, name, function, cause, sum(net) / 1e6 AS lost_ms, max(longest) / 1000 AS worst_us,
       count(*) AS hosts
FROM (SELECT host, kind, name, function, cause, sum(net_ns) AS net, max(max_ns) AS longest
      FROM source_days GROUP BY host, kind, name, function, cause) AS h
GROUP BY kind, name, function, cause
ORDER BY lost_ms DESC, kind, name, function LIMIT 20;

-- 3. What costs more since the kernel changed? In ns of each second that a CPU was measured.
SELECT c.kernel AS kernel, c.kind AS kind, c.name AS name, c.function AS function,
       round(1e9 * c.net / m.observed, 1) AS ns_per_s
FROM (SELECT kernel, kind, name, function, sum(net_ns) AS net
      FROM source_days GROUP BY kernel, kind, name, function) AS c
JOIN (SELECT kernel, sum(observed_ns) AS observed FROM cpu_minutes GROUP BY kernel) AS m
  ON c.kernel = m.kernel
ORDER BY kind, name, function, kernel;

-- 4. Which hosts differ from their peers? A source costs three times what it costs on the median
-- host, where one without it counts with 0, and more than 1 us in each second.
WITH
  observed AS (SELECT host, sum(observed_ns) AS ns FROM cpu_minutes GROUP BY host),
  spent AS (SELECT host, kind, name, function, sum(net_ns) AS net
            FROM source_days GROUP BY host, kind, name, function),
  peers AS (SELECT s.kind AS kind, s.name AS name, s.function AS function,
                   median(1e9 * coalesce(c.net, 0) / o.ns) AS usual
            FROM (SELECT DISTINCT kind, name, function FROM spent) AS s
            CROSS JOIN observed AS o
            LEFT JOIN spent AS c ON c.host = o.host AND c.kind = s.kind AND c.name = s.name
                                 AND c.function = s.function
            GROUP BY s.kind, s.name, s.function)
SELECT c.host AS host, c.kind AS kind, c.name AS name, c.function AS function,
       round(1e9 * c.net / o.ns, 1) AS host_ns_per_s, round(p.usual, 1) AS usual_ns_per_s
FROM spent AS c
JOIN observed AS o ON o.host = c.host
JOIN peers AS p ON p.kind = c.kind AND p.name = c.name AND p.function = c.function
WHERE 1e9 * c.net / o.ns > 3 * p.usual AND 1e9 * c.net / o.ns > 1000
ORDER BY host_ns_per_s DESC, host, kind, name, function LIMIT 50;

-- 5. Which sources are new? Seen on the last day, and on no day before.
SELECT kind, name, function, cause, count(*) AS hosts, sum(net) / 1e6 AS lost_ms
FROM (SELECT host, kind, name, function, cause, sum(net_ns) AS net, min(day) AS since
      FROM source_days GROUP BY host, kind, name, function, cause) AS h
GROUP BY kind, name, function, cause
HAVING min(since) = (SELECT max(day) FROM cpu_minutes)
   AND min(since) > (SELECT min(day) FROM cpu_minutes)
ORDER BY lost_ms DESC, kind, name, function;

-- 6. The longest hiccup of each host: in which minute, and the source that took most at once in
-- that minute of that CPU. What was in the hiccup itself tells -f parquet.
SELECT host, worst / 1000 AS worst_us, cpu, minute, kind, name, function, most / 1000 AS most_us
FROM (SELECT w.host AS host, w.max_ns AS worst, w.cpu AS cpu, w.minute AS minute, c.kind AS kind,
             coalesce(c.name, '') AS name, coalesce(c.function, '') AS function, c.max_ns AS most,
             row_number() OVER (PARTITION BY w.host ORDER BY c.max_ns DESC, c.kind,
                                coalesce(c.name, ''), coalesce(c.function, '')) AS place
      FROM (SELECT *, row_number() OVER (PARTITION BY host
                                         ORDER BY max_ns DESC, minute, cpu) AS place
            FROM cpu_minutes) AS w
      JOIN costs AS c ON c.host = w.host AND c.cpu = w.cpu AND c.minute = w.minute
      WHERE w.place = 1) AS x
WHERE place = 1
ORDER BY worst_us DESC, host LIMIT 50;

-- 7. At which hour of the day (UTC) is time lost?
SELECT extract(HOUR FROM minute) AS hour, sum(lost_ns) / 1e6 AS lost_ms, max(max_ns) / 1000
         AS worst_us, sum(hiccups) AS hiccups_n
FROM cpu_minutes GROUP BY hour ORDER BY hour;

-- 8. Which CPUs lose three times what the other CPUs of their host do?
SELECT c.host AS host, c.cpu AS cpu, round(100.0 * c.lost / c.observed, 4) AS lost_percent,
       round(100.0 * (h.lost - c.lost) / (h.observed - c.observed), 4) AS others_percent
FROM (SELECT host, cpu, sum(lost_ns) AS lost, sum(observed_ns) AS observed
      FROM cpu_minutes GROUP BY host, cpu) AS c
JOIN (SELECT host, sum(lost_ns) AS lost, sum(observed_ns) AS observed
      FROM cpu_minutes GROUP BY host) AS h ON c.host = h.host
WHERE h.observed > c.observed
  AND 1.0 * c.lost * (h.observed - c.observed) > 3.0 * (h.lost - c.lost) * c.observed
ORDER BY lost_percent DESC, host, cpu;

-- 9. How often is a CPU away for 65.5 us and longer? In an hour that it was measured, by kernel.
SELECT kernel, count(DISTINCT host) AS hosts,
       round(3600e9 * sum(long_hiccups) / sum(observed_ns), 3) AS long_per_hour
FROM cpu_minutes GROUP BY kernel ORDER BY kernel;

-- 10. How much of what is lost has a name?
SELECT host, round(100.0 * sum(CASE WHEN kind IN ('edge', 'outside', 'lost') THEN 0 ELSE net_ns END)
                   / sum(net_ns), 2) AS named_percent,
       round(100.0 * sum(CASE WHEN kind = 'outside' THEN net_ns ELSE 0 END) / sum(net_ns), 2)
         AS outside_percent,
       round(100.0 * sum(CASE WHEN kind = 'lost' THEN net_ns ELSE 0 END) / sum(net_ns), 2)
         AS not_recorded_percent
FROM source_days GROUP BY host ORDER BY named_percent, host;
