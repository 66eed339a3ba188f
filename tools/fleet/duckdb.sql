-- SPDX-License-Identifier: GPL-2.0-or-later
-- The views of a fleet for DuckDB, over the files of `culprit report -f parquet-rollup`: in the
-- directory where it is started, one file for each recording, as minutes/HOST/DAY.parquet or in any
-- other tree below minutes/. What is small is read once, here: read it again when files were added.
--
--     duckdb -init duckdb.sql
--     duckdb -c ".read duckdb.sql" -c ".read questions.sql"
CREATE OR REPLACE VIEW rollup AS
SELECT *, make_timestamp(epoch_ns(minute) // 1000) AS utc
FROM read_parquet('minutes/**/*.parquet', union_by_name = true, filename = 'file');

-- Files of watched threads and of parts of a recording do not tell how long was measured: no share
-- of time can be made of them.
CREATE OR REPLACE TABLE untimed AS
SELECT DISTINCT file FROM rollup WHERE kind = 'all' AND observed_ns IS NULL;

CREATE OR REPLACE VIEW timed AS
SELECT * FROM rollup WHERE cpu IS NOT NULL AND file NOT IN (SELECT file FROM untimed);

-- A row for each source, and the time that no source has, in each minute of each CPU.
CREATE OR REPLACE VIEW costs AS
SELECT host, kernel, cpu, utc AS minute, kind, name, function, cause, hiccups, count, net_ns, max_ns
FROM timed
WHERE kind <> 'all';

-- The same by day and host.
CREATE OR REPLACE TABLE source_days AS
SELECT host, kernel, day, kind, coalesce(name, '') AS name, coalesce(function, '') AS function,
       coalesce(cause, '') AS cause, hiccups, count, net_ns, max_ns
FROM (SELECT host, kernel, CAST(minute AS DATE) AS day, kind, name, function, cause,
             sum(hiccups) AS hiccups, sum(count) AS count, sum(net_ns) AS net_ns,
             max(max_ns) AS max_ns
      FROM costs GROUP BY host, kernel, day, kind, name, function, cause);

-- A row for each minute of each CPU that had a hiccup, and for the end of its window: how long it
-- was measured since the last such row, what it lost, the longest hiccup, and how many took 65.5 us
-- (2^16 ns) and more.
CREATE OR REPLACE TABLE cpu_minutes AS
SELECT host, kernel, cpu, utc AS minute, CAST(utc AS DATE) AS day, observed_ns, hiccups,
       net_ns AS lost_ns, max_ns,
       coalesce(list_sum(histogram[18:]), 0) AS long_hiccups
FROM timed
WHERE kind = 'all';
