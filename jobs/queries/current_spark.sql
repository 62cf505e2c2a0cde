-- Spark: the tables of a plain lake, exactly what counts now. Run it first; it reads the log of the lake, so run it again to see
-- what was published since. symlake keys export --lake --for spark prints a script for a sealed lake.
-- Files of an older symlake lack columns, so their schemas are merged.
SET spark.sql.parquet.mergeSchema = true;
CREATE OR REPLACE TEMPORARY VIEW checkpoint AS SELECT * FROM json.`./symlake-data/lake/_checkpoint` ORDER BY number DESC LIMIT 1;
CREATE OR REPLACE TEMPORARY VIEW parts AS
  SELECT p.* FROM (SELECT *, _metadata.file_path AS part FROM parquet.`./symlake-data/lake/_state`) p
  JOIN (SELECT explode(parts.path) AS path FROM checkpoint) c ON endswith(p.part, c.path);
CREATE OR REPLACE TEMPORARY VIEW entries
  (number BIGINT, files ARRAY<STRUCT<`table`: STRING, path: STRING>>, retired ARRAY<STRING>, gone ARRAY<STRING>,
   live ARRAY<STRUCT<artifact: STRING, load: STRING, revision: STRING, file: STRING, facts: STRING, names: STRING>>)
  USING json OPTIONS (path './symlake-data/lake/_log/*/*.json');
CREATE OR REPLACE TEMPORARY VIEW later AS SELECT e.* FROM entries e JOIN checkpoint c ON e.number > c.number;
CREATE OR REPLACE TEMPORARY VIEW files AS
  SELECT path, max_by(says, number) AS says FROM (
    SELECT path, says, number FROM parts WHERE path <> ''
    UNION ALL SELECT f.path, 'file', number FROM (SELECT number, explode(files) AS f FROM later)
    UNION ALL SELECT path, 'retired', number FROM (SELECT number, explode(retired) AS path FROM later))
  GROUP BY path HAVING says = 'file';
CREATE OR REPLACE TEMPORARY VIEW live AS
  SELECT n.* FROM (
    SELECT artifact, max_by(n, number) AS n FROM (
      SELECT number, artifact, IF(says = 'live', struct(artifact, load, revision, file, facts, names), NULL) AS n FROM parts WHERE artifact <> ''
      UNION ALL SELECT number, n.artifact, n FROM (SELECT number, explode(live) AS n FROM later)
      UNION ALL SELECT number, artifact, NULL FROM (SELECT number, explode(gone) AS artifact FROM later))
    GROUP BY artifact)
  WHERE n IS NOT NULL;
CREATE OR REPLACE TEMPORARY VIEW ranges AS
  SELECT r.* FROM (SELECT *, _metadata.file_path AS path FROM parquet.`./symlake-data/lake/ranges`) r
  LEFT SEMI JOIN live l ON r.artifact = l.artifact AND r.load = l.load AND endswith(r.path, l.file);
CREATE OR REPLACE TEMPORARY VIEW artifacts AS
  SELECT a.* FROM (SELECT *, _metadata.file_path AS path FROM parquet.`./symlake-data/lake/artifacts`) a
  LEFT SEMI JOIN live l ON a.artifact = l.artifact AND a.revision = l.revision AND endswith(a.path, l.facts);
CREATE OR REPLACE TEMPORARY VIEW names AS
  SELECT n.* FROM (SELECT *, _metadata.file_path AS path FROM parquet.`./symlake-data/lake/names`) n
  LEFT SEMI JOIN live l ON n.artifact = l.artifact AND n.revision = l.revision AND endswith(n.path, l.names);
