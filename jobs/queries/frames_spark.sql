-- Spark: raw frames joined with ranges, by bins of 4 KiB; a range stands in each bin that it touches.
-- frames(frame, name, address) as in frames.sql.
WITH placed AS (
  SELECT f.*, a.artifact, CAST(f.address - a.image_base AS BIGINT) AS position
  FROM frames f
  JOIN (SELECT DISTINCT artifact, lower(name) AS key FROM names) n ON n.key = lower(f.name)
  JOIN artifacts a ON a.artifact = n.artifact
  WHERE f.address >= a.image_base
), binned AS (
  SELECT artifact, range_start, range_end, function, file, line, depth,
    explode(sequence(range_start DIV 4096, (range_end - 1) DIV 4096)) AS bin
  FROM ranges
)
SELECT p.frame, p.name, p.address, p.artifact, r.function, r.file, r.line, r.depth
FROM placed p
LEFT JOIN binned r ON p.artifact = r.artifact AND p.position DIV 4096 = r.bin AND p.position >= r.range_start AND p.position < r.range_end
ORDER BY p.frame;
