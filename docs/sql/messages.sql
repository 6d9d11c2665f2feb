-- Views that the other queries stand on: what each message, and each of its arrivals, contributes. They need a view `merged`
-- with the rows of merged/1, of one run or of several.

-- The first positive answer of the later attempts of a message that was sent again.
CREATE VIEW positive_answers AS
SELECT run, sender, producer, seq, sent, acked
FROM (
    SELECT run, sender, producer, seq, sent, acked,
           row_number() OVER (PARTITION BY run, sender, producer, seq ORDER BY acked, sent) AS place
    FROM merged
    WHERE "primary" AND attempt > 0 AND outcome = 'accepted' AND sent IS NOT NULL AND acked IS NOT NULL
) AS answers
WHERE place = 1;

-- What is known of the later attempts: the instant they were intended for, and whether one of them has no answer.
CREATE VIEW later_attempts AS
SELECT run, sender, producer, seq, min(intended) AS intended,
       max(CASE WHEN outcome IN ('unsettled', 'failed', 'unsent') THEN 1 ELSE 0 END) AS unanswered
FROM merged
WHERE "primary" AND attempt > 0 AND outcome <> 'unlogged'
GROUP BY run, sender, producer, seq;

-- One row per message, by its first attempt. service and response are those of its first positive answer. *_counts says whether
-- the message counts for the metric; if it does and the metric is NULL, it is infinite: nobody ever answered.
CREATE VIEW messages AS
SELECT run, sender, producer, seq, destination, intended, outcome, wait,
       ready - intended AS lag,
       sent - ready AS blocked,
       CASE WHEN outcome = 'accepted' THEN acked - sent WHEN replaced THEN later_acked - later_sent END AS service,
       CASE WHEN outcome = 'accepted' THEN acked - intended WHEN replaced THEN later_acked - later_intended END AS response,
       answered OR (unanswered AND sent IS NOT NULL) OR replaced OR never_answered AS service_counts,
       answered OR unanswered OR unsent OR replaced OR never_answered AS response_counts
FROM (
    SELECT first.*, yes.sent AS later_sent, yes.acked AS later_acked, later.intended AS later_intended,
           outcome = 'accepted' AND first.sent IS NOT NULL AND first.acked IS NOT NULL AS answered,
           outcome IN ('unsettled', 'failed') AS unanswered,
           outcome = 'unsent' AS unsent,
           yes.acked IS NOT NULL AND (outcome IN ('rejected', 'released', 'modified')
               OR outcome IN ('unsettled', 'failed') AND first.sent IS NOT NULL) AS replaced,
           outcome IN ('rejected', 'released', 'modified') AND yes.acked IS NULL AND coalesce(later.unanswered, 0) = 1 AS never_answered
    FROM merged AS first
    LEFT JOIN positive_answers AS yes
        ON yes.run = first.run AND yes.sender = first.sender AND yes.producer = first.producer AND yes.seq = first.seq
    LEFT JOIN later_attempts AS later
        ON later.run = first.run AND later.sender = first.sender AND later.producer = first.producer AND later.seq = first.seq
    WHERE first."primary" AND first.attempt = 0 AND first.outcome <> 'unlogged'
) AS attempts;

-- The first arrival of a later attempt in a subscription; '' stands for the queue, whose subscription is NULL.
CREATE VIEW later_arrivals AS
SELECT run, sender, producer, seq, place_of, intended, sent, received, started, settled
FROM (
    SELECT run, sender, producer, seq, coalesce(subscription, '') AS place_of, intended, sent, received, started, settled,
           row_number() OVER (PARTITION BY run, sender, producer, seq, coalesce(subscription, '') ORDER BY received) AS place
    FROM merged
    WHERE copy = 0 AND attempt > 0 AND received IS NOT NULL
) AS arrivals
WHERE place = 1;

-- One row per message and subscription: its first arrival, or that it has none. transit and e2e are infinite as above.
CREATE VIEW arrivals AS
SELECT run, sender, producer, seq, destination, subscription, intended,
       CASE WHEN received IS NOT NULL THEN received - sent WHEN replaced THEN later_received - later_sent END AS transit,
       CASE WHEN received IS NOT NULL THEN received - intended WHEN replaced THEN later_received - later_intended END AS e2e,
       CASE WHEN received IS NOT NULL THEN started - received WHEN replaced THEN later_started - later_received END AS queued,
       CASE WHEN received IS NOT NULL THEN settled - started WHEN replaced THEN later_settled - later_started END AS work,
       CASE WHEN received IS NOT NULL THEN started - intended WHEN replaced THEN later_started - later_intended END AS handled,
       sent IS NOT NULL AND (received IS NOT NULL OR missing) AS transit_counts,
       received IS NOT NULL OR missing OR (outcome = 'unsent' AND received_run IS NOT NULL) AS e2e_counts
FROM (
    SELECT first.*, later.intended AS later_intended, later.sent AS later_sent, later.received AS later_received,
           later.started AS later_started, later.settled AS later_settled,
           receiving.run AS received_run,
           first.received IS NULL AND coalesce(recv_outcome, '') IN ('lost', 'unknown') AS missing,
           first.received IS NULL AND coalesce(recv_outcome, '') IN ('lost', 'unknown') AND first.sent IS NOT NULL
               AND later.received IS NOT NULL AS replaced
    FROM merged AS first
    LEFT JOIN later_arrivals AS later
        ON later.run = first.run AND later.sender = first.sender AND later.producer = first.producer AND later.seq = first.seq
        AND later.place_of = coalesce(first.subscription, '')
    LEFT JOIN (SELECT DISTINCT run FROM merged WHERE source IS NOT NULL) AS receiving -- a run without any receive log has no e2e
        ON receiving.run = first.run
    WHERE first.copy = 0 AND first.attempt = 0
) AS firsts;
