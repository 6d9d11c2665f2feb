-- Exact quantiles of every metric, in ns, by the same definition as perf-report's: the value of rank ceil(p·n) among the n messages that
-- count, infinite ones last. NULL is infinite: more than 1 − p of the messages were never answered, or never arrived. Ranks are
-- compared as integers, so that no rounding of p·n can choose the one beside. Needs the views of messages.sql.
WITH metric_values AS (
    SELECT run, 'lag' AS metric, lag AS v FROM messages WHERE lag IS NOT NULL
    UNION ALL SELECT run, 'blocked', blocked FROM messages WHERE blocked IS NOT NULL
    UNION ALL SELECT run, 'service', service FROM messages WHERE service_counts
    UNION ALL SELECT run, 'response', response FROM messages WHERE response_counts
    UNION ALL SELECT run, 'transit', transit FROM arrivals WHERE transit_counts
    UNION ALL SELECT run, 'e2e', e2e FROM arrivals WHERE e2e_counts
    UNION ALL SELECT run, 'queued', queued FROM arrivals WHERE queued IS NOT NULL
    UNION ALL SELECT run, 'work', work FROM arrivals WHERE work IS NOT NULL
    UNION ALL SELECT run, 'handled', handled FROM arrivals WHERE handled IS NOT NULL
), ranked AS (
    SELECT run, metric, v,
           row_number() OVER (PARTITION BY run, metric ORDER BY v NULLS LAST) AS place,
           count(*) OVER (PARTITION BY run, metric) AS n
    FROM metric_values
), wanted AS (
    SELECT '50' AS percentile, 50 AS part, 100 AS whole
    UNION ALL SELECT '90', 90, 100
    UNION ALL SELECT '99', 99, 100
    UNION ALL SELECT '99.9', 999, 1000
    UNION ALL SELECT '99.99', 9999, 10000
)
SELECT run, metric, percentile, n, v AS value_ns
FROM ranked
JOIN wanted ON place * whole >= n * part AND (place - 1) * whole < n * part
ORDER BY run, metric, percentile;
