-- Counts up to a bound, which keeps status fast with 10^7 waiting tasks; above it, only that there
-- are more. A LIMIT in a derived table would be one query, but both servers materialise such a
-- table. FORCE INDEX as in scout.sql.
SELECT IF((SELECT 1 FROM task FORCE INDEX (PRIMARY) WHERE queue_id = :queue_id LIMIT 1 OFFSET :bound) IS NULL,
          (SELECT COUNT(*) FROM task FORCE INDEX (PRIMARY) WHERE queue_id = :queue_id),
          :bound + 1);
