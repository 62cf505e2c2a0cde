-- DuckDB: raw frames joined with ranges. frames(frame, name, address): what a monitor reports, a build-id or APP@BUILD and an
-- address of the file. ASOF finds the range with the least end above a position; where that begins above it, too, the
-- position is a hole. (A join by position >= range_start AND position < range_end is 50 times slower: do not use it.)
WITH placed AS (
  SELECT f.*, a.artifact, (f.address - a.image_base)::BIGINT AS position
  FROM frames f
  JOIN (SELECT DISTINCT artifact, lower(name) AS name FROM names) n ON n.name = lower(f.name)
  JOIN artifacts a USING (artifact)
  WHERE f.address >= a.image_base
)
SELECT p.frame, p.name, p.address, p.artifact,
  CASE WHEN r.range_start <= p.position THEN r.function END AS function,
  CASE WHEN r.range_start <= p.position THEN r.file END AS file,
  CASE WHEN r.range_start <= p.position THEN r.line END AS line,
  CASE WHEN r.range_start <= p.position THEN r.depth END AS depth
FROM placed p
ASOF LEFT JOIN ranges r ON p.artifact = r.artifact AND p.position < r.range_end
ORDER BY p.frame;
