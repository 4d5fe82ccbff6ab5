-- What a session returns that is as Allot set it: all rows, and each value as it is.
SELECT nth, '' IS NULL, "text", 1 / 3
  FROM (SELECT 1 AS nth UNION ALL SELECT 2 UNION ALL SELECT 3) AS three;
