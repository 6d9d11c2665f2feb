-- What became of every transmission, one row per run. A message is intended once, however often it was sent again (attempts).
-- Send-side counts are over primary rows, of which a transmission has exactly one however many subscriptions and copies there are;
-- receive-side ones over first arrivals (copy 0).
SELECT run,
       sum(CASE WHEN "primary" AND outcome <> 'unlogged' AND attempt = 0 THEN 1 ELSE 0 END) AS intended,
       sum(CASE WHEN "primary" AND outcome <> 'unlogged' THEN 1 ELSE 0 END) AS attempts,
       sum(CASE WHEN "primary" AND outcome <> 'unlogged' AND sent IS NOT NULL THEN 1 ELSE 0 END) AS sent,
       sum(CASE WHEN "primary" AND outcome <> 'unlogged' AND acked IS NOT NULL THEN 1 ELSE 0 END) AS acked,
       sum(CASE WHEN "primary" AND outcome = 'accepted' THEN 1 ELSE 0 END) AS accepted,
       sum(CASE WHEN "primary" AND outcome = 'rejected' THEN 1 ELSE 0 END) AS rejected,
       sum(CASE WHEN "primary" AND outcome = 'released' THEN 1 ELSE 0 END) AS released,
       sum(CASE WHEN "primary" AND outcome = 'modified' THEN 1 ELSE 0 END) AS modified,
       sum(CASE WHEN "primary" AND outcome = 'presettled' THEN 1 ELSE 0 END) AS presettled,
       sum(CASE WHEN "primary" AND outcome = 'unsettled' THEN 1 ELSE 0 END) AS unsettled,
       sum(CASE WHEN "primary" AND outcome = 'failed' THEN 1 ELSE 0 END) AS failed,
       sum(CASE WHEN "primary" AND outcome = 'unsent' THEN 1 ELSE 0 END) AS unsent,
       sum(CASE WHEN copy = 0 AND received IS NOT NULL THEN 1 ELSE 0 END) AS received,
       sum(CASE WHEN copy = 0 AND received IS NULL AND recv_outcome = 'lost' THEN 1 ELSE 0 END) AS lost,
       sum(CASE WHEN copy = 0 AND received IS NULL AND recv_outcome = 'unknown' THEN 1 ELSE 0 END) AS unknown,
       sum(CASE WHEN copy > 0 AND received IS NOT NULL THEN 1 ELSE 0 END) AS duplicate,
       sum(CASE WHEN copy = 0 AND received IS NOT NULL AND reordered THEN 1 ELSE 0 END) AS reordered,
       sum(CASE WHEN received IS NOT NULL AND delivery_count > 0 THEN 1 ELSE 0 END) AS redelivered
FROM merged
GROUP BY run
ORDER BY run;
