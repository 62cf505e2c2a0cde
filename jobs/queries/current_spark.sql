-- Spark: the tables of a lake, exactly what counts now; of a sealed one with the settings of
-- symlake keys export --lake --for spark. Run it first, and again to see what was published since.
CREATE OR REPLACE TEMPORARY VIEW manifest AS SELECT * FROM json.`./symlake-data/lake/_manifest` ORDER BY number DESC LIMIT 1;
CREATE OR REPLACE TEMPORARY VIEW live AS
  SELECT l.* FROM (SELECT *, _metadata.file_path AS path FROM parquet.`./symlake-data/lake/live`) l
  JOIN manifest m ON endswith(l.path, m.live.path);
CREATE OR REPLACE TEMPORARY VIEW ranges AS
  SELECT r.* FROM (SELECT *, _metadata.file_path AS path FROM parquet.`./symlake-data/lake/ranges`) r
  LEFT SEMI JOIN live l ON r.artifact = l.artifact AND r.load = l.load AND endswith(r.path, l.file);
CREATE OR REPLACE TEMPORARY VIEW artifacts AS
  SELECT a.* FROM (SELECT *, _metadata.file_path AS path FROM parquet.`./symlake-data/lake/artifacts`) a
  LEFT SEMI JOIN live l ON a.artifact = l.artifact AND a.revision = l.revision AND endswith(a.path, l.facts);
CREATE OR REPLACE TEMPORARY VIEW names AS
  SELECT n.* FROM (SELECT *, _metadata.file_path AS path FROM parquet.`./symlake-data/lake/names`) n
  LEFT SEMI JOIN live l ON n.artifact = l.artifact AND n.revision = l.revision AND endswith(n.path, l.names);
