-- DuckDB and Spark: the functions that take most code, inlined code counted where it ended up. Columns of a script are no bytes.
SELECT function, sum(range_end - range_start) AS bytes, count(*) AS ranges, count(DISTINCT artifact) AS artifacts
FROM ranges
WHERE kind <> 'sourcemap'
GROUP BY function
ORDER BY bytes DESC, function
LIMIT 20;
