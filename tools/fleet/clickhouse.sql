-- SPDX-License-Identifier: GPL-2.0-or-later
-- The views of a fleet for ClickHouse (clickhouse-local, or chDB), over the same files as
-- duckdb.sql has; see there.
--
--     clickhouse-local --queries-file clickhouse.sql questions.sql
CREATE OR REPLACE VIEW rollup AS
SELECT *, toDateTime(minute, 'UTC') AS utc, _path AS file
FROM file('minutes/**/*.parquet', 'Parquet');

DROP TABLE IF EXISTS untimed;
CREATE TABLE untimed ENGINE = Memory AS
SELECT DISTINCT file FROM rollup WHERE kind = 'all' AND observed_ns IS NULL;

CREATE OR REPLACE VIEW timed AS
SELECT * FROM rollup WHERE cpu IS NOT NULL AND file NOT IN (SELECT file FROM untimed);

CREATE OR REPLACE VIEW costs AS
SELECT host, kernel, cpu, utc AS minute, kind, name, function, cause, hiccups, count, net_ns, max_ns
FROM timed
WHERE kind <> 'all';

DROP TABLE IF EXISTS source_days;
CREATE TABLE source_days ENGINE = Memory AS
SELECT host, kernel, day, kind, coalesce(s.name, '') AS name, coalesce(s.function, '') AS function,
       coalesce(s.cause, '') AS cause, hiccups, count, net_ns, max_ns
FROM (SELECT c.host AS host, c.kernel AS kernel, toDate(c.minute) AS day, c.kind AS kind,
             c.name AS name, c.function AS function, c.cause AS cause, sum(c.hiccups) AS hiccups,
             sum(c.count) AS count, sum(c.net_ns) AS net_ns, max(c.max_ns) AS max_ns
      FROM costs AS c
      GROUP BY c.host, c.kernel, day, c.kind, c.name, c.function, c.cause) AS s;

DROP TABLE IF EXISTS cpu_minutes;
CREATE TABLE cpu_minutes ENGINE = Memory AS
SELECT host, kernel, cpu, utc AS minute, toDate(utc) AS day, observed_ns, hiccups,
       net_ns AS lost_ns, max_ns,
       arraySum(n -> coalesce(n, 0), arraySlice(histogram, 18)) AS long_hiccups
FROM timed
WHERE kind = 'all';
