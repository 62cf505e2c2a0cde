-- DuckDB: the functions that are inlined most: into how many ranges, and how many bytes they became there.
WITH frames AS (
  SELECT artifact, range_start, range_end, function AS inlined FROM ranges WHERE depth > 1 AND kind <> 'sourcemap'
  UNION ALL
  SELECT artifact, range_start, range_end, unnest(list_slice(inlines, 1, depth - 2)).function FROM ranges WHERE depth > 2 AND kind <> 'sourcemap'
)
SELECT inlined, count(*) AS ranges, sum(range_end - range_start) AS bytes
FROM frames
GROUP BY inlined
ORDER BY bytes DESC, inlined
LIMIT 20;
