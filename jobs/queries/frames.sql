-- DuckDB: raw frames joined with ranges. frames(frame, name, address): what a monitor reports, a build-id or APP@BUILD and an
-- address of the file; of a script (line<<32) + column, both from 0. Each frame comes out with a status: found, hole, outside or
-- no-artifact. A name of several artifacts gives a row for each.
-- A join by position >= range_start AND position < range_end is 50 times slower, so do not use it. This one reads ranges once for
-- long ranges and once for all, and sorts long ranges only. Beside that, it takes little more than to read the columns of its answers.
WITH placed AS MATERIALIZED (
  SELECT row_number() OVER () AS place, f.*, a.artifact,
    CASE WHEN f.address >= a.image_base AND f.address < a.image_base + a.image_end THEN (f.address - a.image_base)::BIGINT END AS position
  FROM frames f
  LEFT JOIN (SELECT DISTINCT artifact, lower(name) AS name FROM names) n ON n.name = lower(f.name)
  LEFT JOIN artifacts a USING (artifact)
), asked AS MATERIALIZED (
  SELECT artifact, row_number() OVER () AS id FROM (SELECT DISTINCT artifact FROM placed WHERE position IS NOT NULL)
),
-- A bin is 32 positions. Ranges are disjoint, and a position lies in a range that ends in its bin or in the next one, or in a long
-- range. ASOF finds the long one: the least end above the position. (current.sql keeps DuckDB from a loop over all ranges there.)
long AS (
  SELECT id, range_start, range_end FROM ranges JOIN asked USING (artifact) WHERE range_end - range_start > 32
), bins AS MATERIALIZED (
  SELECT place, p.id, position,
    unnest(CASE WHEN range_start <= position THEN [(range_end - 1) >> 5] ELSE [position >> 5, (position >> 5) + 1] END) AS bin
  FROM (SELECT place, id, position FROM placed JOIN asked USING (artifact) WHERE position IS NOT NULL) p
  ASOF LEFT JOIN long l ON p.id = l.id AND p.position < l.range_end
),
-- One bit for each bin tells most ranges that no frame asks for, faster than a join. Bins of an artifact above 32 MiB share bits.
marked AS MATERIALIZED (
  SELECT artifact, id, bits
  FROM asked JOIN (SELECT id, bitstring_agg((bin & 1048575)::INTEGER, 0, 1048575) AS bits FROM bins GROUP BY id) USING (id)
), near AS (
  SELECT id, (range_end - 1) >> 5 AS bin, range_start, range_end, function, file, line, col, linear, depth
  FROM ranges JOIN marked USING (artifact)
  WHERE get_bit(bits, (((range_end - 1) >> 5) & 1048575)::INTEGER) = 1
),
-- Where a range is linear, its line and column run on with the position.
found AS (
  SELECT place, function, file,
    line + CASE WHEN linear = 1 THEN (position >> 32) - (range_start >> 32) ELSE 0 END AS line,
    CASE WHEN coalesce(linear, 0) = 0 THEN col
         WHEN position >> 32 = range_start >> 32 THEN col + position - range_start
         ELSE position & 4294967295 END AS col,
    depth
  FROM near JOIN bins USING (id, bin)
  WHERE range_start <= position AND position < range_end
)
SELECT p.frame, p.name, p.address, p.artifact, function, file, line, col, depth,
  CASE WHEN p.artifact IS NULL THEN 'no-artifact' WHEN position IS NULL THEN 'outside' WHEN r.place IS NULL THEN 'hole' ELSE 'found' END AS status
FROM found r RIGHT JOIN placed p USING (place);
