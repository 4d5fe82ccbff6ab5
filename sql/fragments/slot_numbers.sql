-- The numbers from 0 to 1,023. (MySQL would refuse WITH RECURSIVE beyond 1,000.)
(SELECT 32 * high.n + low.n AS slot
          FROM (WITH RECURSIVE digit (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM digit WHERE n < 31)
                SELECT n FROM digit) AS high
          JOIN (WITH RECURSIVE digit (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM digit WHERE n < 31)
                SELECT n FROM digit) AS low) AS slot_of
