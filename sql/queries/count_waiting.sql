-- Never counts a whole queue: the bound keeps status fast with 10^7 tasks waiting.
SELECT COUNT(*) FROM (SELECT 1 FROM task WHERE queue_id = :queue_id LIMIT :most) AS bounded;
