-- DuckDB: raw frames joined with ranges. frames(frame, name, address): what a monitor reports, a build-id or APP@BUILD and an
-- address of the file. ASOF finds the least end above a position, by numbers alone, since it sorts all that it is given; the rest
-- of that range is fetched by its end. Where it begins above the position, too, the position is a hole.
-- (A join by position >= range_start AND position < range_end is 50 times slower: do not use it.)
WITH placed AS MATERIALIZED (
  SELECT f.*, a.artifact, (f.address - a.image_base)::BIGINT AS position
  FROM frames f
  JOIN (SELECT DISTINCT artifact, lower(name) AS name FROM names) n ON n.name = lower(f.name)
  JOIN artifacts a USING (artifact)
  WHERE f.address >= a.image_base
), asked AS MATERIALIZED (
  SELECT artifact, row_number() OVER () AS id FROM (SELECT DISTINCT artifact FROM placed)
), ends AS (
  SELECT p.*, r.range_end
  FROM (SELECT placed.*, id FROM placed JOIN asked USING (artifact)) p
  ASOF LEFT JOIN (SELECT id, range_end FROM ranges JOIN asked USING (artifact)) r ON p.id = r.id AND p.position < r.range_end
)
SELECT e.frame, e.name, e.address, e.artifact, r.function, r.file, r.line, r.depth
FROM ends e
LEFT JOIN ranges r ON e.artifact = r.artifact AND e.range_end = r.range_end AND r.range_start <= e.position
ORDER BY e.frame;
