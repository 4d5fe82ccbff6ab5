-- Data that only a session with Allot's settings returns: all rows, and each value unchanged.
SELECT nth, '' IS NULL, "text", 1 / 3
  FROM (SELECT 1 AS nth UNION ALL SELECT 2 UNION ALL SELECT 3) AS three;
