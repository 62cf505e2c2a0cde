-- Spark: raw frames joined with ranges, by bins: of 4 KiB for the short ranges, of more for longer ones, so that each stands in
-- two at most (the last range of a script's line has 4 GiB, and a linear one may go on to the end of the script). frames(frame, name, address) and the status as in frames.sql.
WITH placed AS (
  SELECT f.*, a.artifact,
    CASE WHEN f.address >= a.image_base AND f.address < a.image_base + a.image_end THEN CAST(f.address - a.image_base AS BIGINT) END AS position
  FROM frames f
  LEFT JOIN (SELECT DISTINCT artifact, lower(name) AS key FROM names) n ON n.key = lower(f.name)
  LEFT JOIN artifacts a ON a.artifact = n.artifact
), asked AS (
  SELECT *, explode(array(12, 18, 25, 32, 44, 56)) AS bits FROM placed WHERE position IS NOT NULL
), sized AS (
  SELECT artifact, range_start, range_end, function, file, line, col, linear, depth,
    CASE WHEN range_end - range_start <= 4096 THEN 12 WHEN range_end - range_start <= 262144 THEN 18
         WHEN range_end - range_start <= 33554432 THEN 25 WHEN range_end - range_start <= 4294967296 THEN 32
         WHEN range_end - range_start <= 17592186044416 THEN 44 ELSE 56 END AS bits
  FROM ranges
), binned AS (
  SELECT *, explode(sequence(shiftright(range_start, bits), shiftright(range_end - 1, bits))) AS bin FROM sized
), found AS (
  SELECT p.frame, p.artifact, r.function, r.file,
    r.line + CASE WHEN r.linear = 1 THEN shiftright(p.position, 32) - shiftright(r.range_start, 32) ELSE 0 END AS line,
    CASE WHEN coalesce(r.linear, 0) = 0 THEN r.col
         WHEN shiftright(p.position, 32) = shiftright(r.range_start, 32) THEN r.col + p.position - r.range_start
         ELSE p.position & 4294967295 END AS col,
    r.depth
  FROM asked p
  JOIN binned r ON p.artifact = r.artifact AND p.bits = r.bits AND shiftright(p.position, p.bits) = r.bin
    AND p.position >= r.range_start AND p.position < r.range_end
)
SELECT p.frame, p.name, p.address, p.artifact, r.function, r.file, r.line, r.col, r.depth,
  CASE WHEN p.artifact IS NULL THEN 'no-artifact' WHEN p.position IS NULL THEN 'outside' WHEN r.artifact IS NULL THEN 'hole' ELSE 'found' END AS status
FROM placed p
LEFT JOIN found r ON p.frame = r.frame AND p.artifact = r.artifact
ORDER BY p.frame, p.artifact;
