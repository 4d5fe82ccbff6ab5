-- Never counts a whole queue: the bound keeps status fast with 10^7 tasks waiting. Where there are more,
-- only that is found out. A LIMIT in a table of its own would be one query, but both servers keep in
-- such a table what they have read. FORCE INDEX as in scout.sql.
SELECT IF((SELECT 1 FROM task FORCE INDEX (PRIMARY) WHERE queue_id = :queue_id LIMIT 1 OFFSET :bound) IS NULL,
          (SELECT COUNT(*) FROM task FORCE INDEX (PRIMARY) WHERE queue_id = :queue_id),
          :bound + 1);
