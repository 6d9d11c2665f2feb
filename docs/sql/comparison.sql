-- Quantiles of two runs side by side, and the change from the first to the second as a share. `merged` has the rows of both;
-- a view `sides` says which run is which: run, side ('base' or 'new'). Needs the views of messages.sql. It says how much the two
-- runs differ, not whether another pair would: for that repeat the runs, and see perf-report --baseline.
WITH metric_values AS (
    SELECT run, 'service' AS metric, service AS v FROM messages WHERE service_counts
    UNION ALL SELECT run, 'response', response FROM messages WHERE response_counts
    UNION ALL SELECT run, 'e2e', e2e FROM arrivals WHERE e2e_counts
), ranked AS (
    SELECT side, metric, v,
           row_number() OVER (PARTITION BY side, metric ORDER BY v NULLS LAST) AS place,
           count(*) OVER (PARTITION BY side, metric) AS n
    FROM metric_values JOIN sides ON sides.run = metric_values.run
), wanted AS (
    SELECT '50' AS percentile, 50 AS part, 100 AS whole
    UNION ALL SELECT '90', 90, 100
    UNION ALL SELECT '99', 99, 100
    UNION ALL SELECT '99.9', 999, 1000
), quantiles AS (
    SELECT side, metric, percentile, v FROM ranked
    JOIN wanted ON place * whole >= n * part AND (place - 1) * whole < n * part
)
SELECT base.metric, base.percentile, base.v AS base_ns, new.v AS new_ns, new.v * 1.0 / base.v - 1 AS change
FROM quantiles AS base
JOIN quantiles AS new ON new.metric = base.metric AND new.percentile = base.percentile AND new.side = 'new'
WHERE base.side = 'base'
ORDER BY base.metric, base.percentile;
