-- DuckDB: the tables of a plain lake, exactly what counts now. Run it first; it takes the files of the newest manifest,
-- so run it again to see what was published since.
-- DuckDB joins ASOF by a loop over all ranges where it expects few frames. 0 keeps it from that.
SET asof_loop_join_threshold = 0;
SET VARIABLE lake = './symlake-data/lake'; -- or s3://bucket/prefix
SET VARIABLE manifest = (SELECT max(file) FROM glob(getvariable('lake') || '/_manifest/*.json'));
CREATE OR REPLACE TEMP TABLE manifest AS SELECT * FROM read_json(getvariable('manifest'));
CREATE OR REPLACE TEMP TABLE files AS
  SELECT f."table" AS name, getvariable('lake') || '/' || f.path AS path FROM (SELECT unnest(files) AS f FROM manifest);

SET VARIABLE live = (SELECT getvariable('lake') || '/' || live.path FROM manifest);
SET VARIABLE ranges = (SELECT list(path) FROM files WHERE name = 'ranges');
SET VARIABLE artifacts = (SELECT list(path) FROM files WHERE name = 'artifacts');
SET VARIABLE names = (SELECT list(path) FROM files WHERE name = 'names');

CREATE OR REPLACE TEMP TABLE live AS SELECT artifact, load, revision FROM read_parquet(getvariable('live'));
CREATE OR REPLACE TEMP VIEW ranges AS
  SELECT * FROM read_parquet(getvariable('ranges'), hive_partitioning = true) SEMI JOIN live USING (artifact, load);
CREATE OR REPLACE TEMP VIEW artifacts AS
  SELECT * FROM read_parquet(getvariable('artifacts'), hive_partitioning = true) SEMI JOIN live USING (artifact, load, revision);
CREATE OR REPLACE TEMP VIEW names AS
  SELECT * FROM read_parquet(getvariable('names'), hive_partitioning = true) SEMI JOIN live USING (artifact, load, revision);
-- A lake of mappings has classes too:
--   SET VARIABLE classes = (SELECT list(path) FROM files WHERE name = 'classes');
--   CREATE OR REPLACE TEMP VIEW classes AS
--     SELECT * FROM read_parquet(getvariable('classes'), hive_partitioning = true) SEMI JOIN live USING (artifact, load);
