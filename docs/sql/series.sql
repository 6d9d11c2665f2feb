-- Messages per second of the run, counted by the instant of each step; the first intended instant is the start. The seconds are those
-- of perf-report's series at an interval of one second (--interval 1s). Instants before the start are left out, as there.
WITH starts AS (
    SELECT run, min(intended) AS start FROM merged GROUP BY run
), steps AS (
    SELECT run, 'intended' AS step, intended AS instant FROM merged WHERE "primary" AND attempt = 0 AND outcome <> 'unlogged'
    UNION ALL SELECT run, 'sent', sent FROM merged WHERE "primary" AND outcome <> 'unlogged' AND sent IS NOT NULL
    UNION ALL SELECT run, 'acked', acked FROM merged WHERE "primary" AND outcome NOT IN ('unlogged', 'presettled') AND sent IS NOT NULL AND acked IS NOT NULL
    UNION ALL SELECT run, 'received', received FROM merged WHERE copy = 0 AND received IS NOT NULL
), placed AS (
    SELECT steps.run, step, (instant - start) - (instant - start) % 1000000000 AS since_start
    FROM steps JOIN starts ON starts.run = steps.run
    WHERE instant >= start
)
SELECT run, since_start AS from_ns,
       sum(CASE WHEN step = 'intended' THEN 1 ELSE 0 END) AS intended,
       sum(CASE WHEN step = 'sent' THEN 1 ELSE 0 END) AS sent,
       sum(CASE WHEN step = 'acked' THEN 1 ELSE 0 END) AS acked,
       sum(CASE WHEN step = 'received' THEN 1 ELSE 0 END) AS received
FROM placed
GROUP BY run, since_start
ORDER BY run, since_start;
