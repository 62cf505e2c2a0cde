-- DuckDB and Spark: functions whose code grew or shrank between two builds of an app. Columns of a script are no bytes.
WITH sizes AS (
  SELECT n.build, r.function, sum(r.range_end - r.range_start) AS bytes
  FROM names n
  JOIN ranges r ON r.artifact = n.artifact
  WHERE n.name_kind = 'app' AND n.app = 'shop' AND n.name = concat(n.app, '@', n.build) AND n.build IN ('41', '42') AND r.kind <> 'sourcemap'
  GROUP BY n.build, r.function
), both_builds AS (
  SELECT function,
    coalesce(sum(CASE WHEN build = '41' THEN bytes END), 0) AS before,
    coalesce(sum(CASE WHEN build = '42' THEN bytes END), 0) AS after
  FROM sizes
  GROUP BY function
)
SELECT function, before, after, after - before AS grown
FROM both_builds
WHERE before <> after
ORDER BY abs(after - before) DESC, function
LIMIT 50;
