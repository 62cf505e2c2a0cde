-- DuckDB: raw frames joined with ranges. frames(frame, name, address): what a monitor reports, a build-id or APP@BUILD and an
-- address of the file; of a script (line<<32) + column, both from 0. Each frame comes out with a status: found, hole, outside or
-- no-artifact. A name of several artifacts gives a row for each. ASOF finds the least end above a position, by numbers alone, since it sorts all that it is given; the rest
-- of that range is fetched by its end. Where it begins above the position, too, the position is a hole.
-- (A join by position >= range_start AND position < range_end is 50 times slower: do not use it. current.sql keeps DuckDB from
-- such a loop where it expects few frames.) Where a range is linear, its line and column run on with the position.
WITH placed AS MATERIALIZED (
  SELECT f.*, a.artifact,
    CASE WHEN f.address >= a.image_base AND f.address < a.image_base + a.image_end THEN (f.address - a.image_base)::BIGINT END AS position
  FROM frames f
  LEFT JOIN (SELECT DISTINCT artifact, lower(name) AS name FROM names) n ON n.name = lower(f.name)
  LEFT JOIN artifacts a USING (artifact)
), asked AS MATERIALIZED (
  SELECT artifact, row_number() OVER () AS id FROM (SELECT DISTINCT artifact FROM placed WHERE position IS NOT NULL)
), ends AS (
  SELECT p.*, r.range_end
  FROM (SELECT placed.*, id FROM placed JOIN asked USING (artifact) WHERE position IS NOT NULL) p
  ASOF LEFT JOIN (SELECT id, range_end FROM ranges JOIN asked USING (artifact)) r ON p.id = r.id AND p.position < r.range_end
), answered AS (
  SELECT e.frame, e.name, e.address, e.artifact, r.function, r.file,
    r.line + CASE WHEN r.linear = 1 THEN (e.position >> 32) - (r.range_start >> 32) ELSE 0 END AS line,
    CASE WHEN coalesce(r.linear, 0) = 0 THEN r.col
         WHEN e.position >> 32 = r.range_start >> 32 THEN r.col + e.position - r.range_start
         ELSE e.position & 4294967295 END AS col,
    r.depth, CASE WHEN r.artifact IS NULL THEN 'hole' ELSE 'found' END AS status
  FROM ends e
  LEFT JOIN ranges r ON e.artifact = r.artifact AND e.range_end = r.range_end AND r.range_start <= e.position
  UNION ALL
  SELECT frame, name, address, artifact, NULL, NULL, NULL, NULL, NULL, CASE WHEN artifact IS NULL THEN 'no-artifact' ELSE 'outside' END
  FROM placed
  WHERE position IS NULL
)
SELECT * FROM answered;
