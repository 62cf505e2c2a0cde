-- DuckDB: the functions that most samples were found in, and how many of these had the function innermost.
SELECT function, count(DISTINCT sample) FILTER (WHERE frame = 0) AS self, count(DISTINCT sample) AS samples
FROM frames
WHERE function <> ''
GROUP BY function
ORDER BY self DESC, samples DESC, function
LIMIT 20;
