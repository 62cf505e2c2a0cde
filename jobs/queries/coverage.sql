-- DuckDB and Spark: how much of each artifact is explained, the worst first. Positions of a script are no bytes, so it
-- has its count alone.
SELECT a.artifact, min(n.name) AS file, a.arch, a.ranges,
  round(100.0 * a.covered_bytes / nullif(a.text_bytes, 0), 1) AS covered_percent,
  round(100.0 * a.with_line_bytes / nullif(CASE WHEN a.kind <> 'sourcemap' THEN a.covered_bytes END, 0), 1) AS with_line_percent,
  round(100.0 * a.with_inline_bytes / nullif(CASE WHEN a.kind <> 'sourcemap' THEN a.covered_bytes END, 0), 1) AS with_inline_percent
FROM artifacts a
LEFT JOIN names n ON n.artifact = a.artifact AND n.name_kind = 'file'
GROUP BY a.artifact, a.kind, a.arch, a.ranges, a.covered_bytes, a.text_bytes, a.with_line_bytes, a.with_inline_bytes
ORDER BY covered_percent NULLS LAST, with_line_percent NULLS LAST, a.artifact;
