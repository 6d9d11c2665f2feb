-- Which subscription got how much, as in perf-merge --check: one row per run, destination and subscription (NULL on a queue). A row
-- without arrival has no source, which is what the receivers called the destination.
SELECT run, destination, subscription, max(source) AS source,
       sum(CASE WHEN copy = 0 AND received IS NOT NULL THEN 1 ELSE 0 END) AS received,
       sum(CASE WHEN copy = 0 AND received IS NULL AND recv_outcome = 'lost' THEN 1 ELSE 0 END) AS lost,
       sum(CASE WHEN copy = 0 AND received IS NULL AND recv_outcome = 'unknown' THEN 1 ELSE 0 END) AS unknown,
       sum(CASE WHEN copy = 0 AND received IS NOT NULL AND reordered THEN 1 ELSE 0 END) AS reordered,
       sum(CASE WHEN copy > 0 AND received IS NOT NULL THEN 1 ELSE 0 END) AS duplicate
FROM merged
WHERE received IS NOT NULL OR recv_outcome IN ('lost', 'unknown')
GROUP BY run, destination, subscription
ORDER BY run, destination, subscription;
