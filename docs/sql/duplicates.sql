-- Every message that arrived more than once in a subscription: how often, and how long after the first arrival the last one came.
SELECT run, sender, producer, seq, attempt, source, subscription,
       count(*) - 1 AS duplicates,
       max(received) - min(received) AS after_ns
FROM merged
WHERE received IS NOT NULL
GROUP BY run, sender, producer, seq, attempt, source, subscription
HAVING count(*) > 1
ORDER BY run, sender, producer, seq, attempt, source, subscription;
