-- DuckDB: the tables of a plain lake, exactly what counts now. Run it first; it reads the log of the lake, so run it again to
-- see what was published since.
-- DuckDB joins ASOF by a loop over all ranges where it expects few frames. 0 keeps it from that.
SET asof_loop_join_threshold = 0;
SET parquet_metadata_cache = true; -- else each query reads all footers again; a file never changes
SET VARIABLE lake = './symlake-data/lake'; -- or s3://bucket/prefix

-- The newest checkpoint sorts first. Its parts hold all up to an entry of the log, and the entries after it the rest.
SET VARIABLE checkpoint = (SELECT min(file) FROM glob(getvariable('lake') || '/_checkpoint/*.json'));
CREATE OR REPLACE TEMP TABLE checkpoint AS
  SELECT number, list_transform(parts, lambda p: getvariable('lake') || '/' || p.path) AS parts FROM read_json(getvariable('checkpoint'));
SET VARIABLE parts = (SELECT parts FROM checkpoint);
SET VARIABLE entries = (
  SELECT list(file) FROM glob(getvariable('lake') || '/_log/*/*.json')
  WHERE parse_filename(file, true)::UBIGINT >= (SELECT number FROM checkpoint));
CREATE OR REPLACE TEMP TABLE entries AS
  SELECT * FROM read_json(getvariable('entries'), columns = {
    number: 'BIGINT', files: 'STRUCT("table" VARCHAR, path VARCHAR, rows BIGINT)[]', retired: 'VARCHAR[]', gone: 'VARCHAR[]',
    live: 'STRUCT(artifact VARCHAR, load VARCHAR, revision VARCHAR, file VARCHAR, file_rows BIGINT)[]'});
CREATE OR REPLACE TEMP TABLE state AS
  SELECT number, says, of AS name, path, rows, artifact, load, revision, file, file_rows FROM read_parquet(getvariable('parts'))
  UNION ALL BY NAME SELECT number, 'file' AS says, f."table" AS name, f.path AS path, f.rows AS rows FROM (SELECT number, unnest(files) AS f FROM entries)
  UNION ALL BY NAME SELECT number, 'retired' AS says, unnest(retired) AS path FROM entries
  UNION ALL BY NAME SELECT number, 'live' AS says, l.* FROM (SELECT number, unnest(live) AS l FROM entries)
  UNION ALL BY NAME SELECT number, 'gone' AS says, unnest(gone) AS artifact FROM entries;

-- The last that is said of a file or an artifact counts. All rows of a file may count: it is whole.
CREATE OR REPLACE TEMP TABLE live AS
  SELECT artifact, load, revision, file, file_rows FROM state WHERE artifact IS NOT NULL AND artifact <> ''
  QUALIFY row_number() OVER (PARTITION BY artifact ORDER BY number DESC) = 1 AND says = 'live';
CREATE OR REPLACE TEMP TABLE files AS
  SELECT name, getvariable('lake') || '/' || path AS path, coalesce(rows = counting, false) AS whole FROM state
  LEFT JOIN (SELECT file AS path, sum(file_rows) AS counting FROM live GROUP BY file) USING (path)
  WHERE path IS NOT NULL AND path <> ''
  QUALIFY row_number() OVER (PARTITION BY path ORDER BY number DESC) = 1 AND says = 'file';

SET VARIABLE ranges = (SELECT list(path) FROM files WHERE name = 'ranges');
SET VARIABLE whole = (SELECT list(path) FROM files WHERE name = 'ranges' AND whole);
SET VARIABLE mixed = (SELECT list(path) FROM files WHERE name = 'ranges' AND NOT whole);
SET VARIABLE artifacts = (SELECT list(path) FROM files WHERE name = 'artifacts');
SET VARIABLE names = (SELECT list(path) FROM files WHERE name = 'names');

-- Files of an older symlake lack columns that were added since. They are NULL, also where no file has them. The join with live is
-- left out for whole files, because it takes longer than the rest of many a query. read_parquet wants one file, also where none is whole.
CREATE OR REPLACE TEMP VIEW ranges AS
  SELECT * FROM read_parquet(coalesce(getvariable('whole'), getvariable('ranges')), hive_partitioning = true, union_by_name = true)
  WHERE getvariable('whole') IS NOT NULL
  UNION ALL BY NAME
  SELECT * FROM read_parquet(coalesce(getvariable('mixed'), getvariable('ranges')), hive_partitioning = true, union_by_name = true)
  SEMI JOIN live USING (artifact, load) WHERE getvariable('mixed') IS NOT NULL
  UNION ALL BY NAME SELECT NULL::INTEGER AS linear WHERE false;
CREATE OR REPLACE TEMP VIEW artifacts AS
  SELECT * FROM read_parquet(getvariable('artifacts'), hive_partitioning = true) SEMI JOIN live USING (artifact, load, revision);
CREATE OR REPLACE TEMP VIEW names AS
  SELECT * FROM read_parquet(getvariable('names'), hive_partitioning = true) SEMI JOIN live USING (artifact, load, revision);
-- A lake of mappings has classes too:
--   SET VARIABLE classes = (SELECT list(path) FROM files WHERE name = 'classes');
--   CREATE OR REPLACE TEMP VIEW classes AS
--     SELECT * FROM read_parquet(getvariable('classes'), hive_partitioning = true) SEMI JOIN live USING (artifact, load);
