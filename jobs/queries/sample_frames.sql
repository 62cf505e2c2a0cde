-- DuckDB: one row for each frame of each sample, of records that symlake symbolicate PROFILE --output samples.ndjson writes.
CREATE OR REPLACE VIEW frames AS
SELECT sample, process, thread, unnest(generate_series(0, len(frames) - 1)) AS frame, unnest(frames, recursive := true)
FROM read_ndjson('samples.ndjson');
