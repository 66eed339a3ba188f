-- SPDX-License-Identifier: GPL-2.0-or-later
-- The views of a fleet for ClickHouse (clickhouse-local, or chDB), over the same files as
-- duckdb.sql has; see there.
--
--     clickhouse-local --queries-file clickhouse.sql questions.sql
CREATE OR REPLACE VIEW rollup AS
SELECT *, toDateTime(minute, 'UTC') AS utc, _path AS file
FROM file('minutes/**/*.parquet', 'Parquet');

CREATE OR REPLACE VIEW timed AS
SELECT * FROM rollup
WHERE cpu IS NOT NULL
  AND file NOT IN (SELECT file FROM rollup WHERE kind = 'all' AND observed_ns IS NULL);

CREATE OR REPLACE VIEW costs AS
SELECT host, kernel, cpu, utc AS minute, toDate(utc) AS day, kind,
       coalesce(name, '') AS name, coalesce(function, '') AS function, coalesce(cause, '') AS cause,
       hiccups, count, net_ns, max_ns
FROM timed
WHERE kind <> 'all';

CREATE OR REPLACE VIEW measured AS
SELECT host, kernel, cpu, utc AS minute, toDate(utc) AS day, observed_ns, hiccups,
       net_ns AS lost_ns, max_ns,
       arraySum(n -> coalesce(n, 0), arraySlice(histogram, 18)) AS long_hiccups
FROM timed
WHERE kind = 'all';
