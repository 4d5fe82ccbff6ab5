-- Makes the slots of a new name, all or none of them: of two clients with different numbers the
-- first one decides. (MySQL would refuse WITH RECURSIVE beyond 1,000.)
INSERT INTO named_lock (name, slot, slots, epoch, state, expire_at, ttl_us, taken_at)
SELECT :name, slot, :slots, slot, 'FREE', UTC_TIMESTAMP(6), 0, UTC_TIMESTAMP(6)
  FROM (SELECT 32 * high.n + low.n AS slot
          FROM (WITH RECURSIVE digit (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM digit WHERE n < 31)
                SELECT n FROM digit) AS high
          JOIN (WITH RECURSIVE digit (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM digit WHERE n < 31)
                SELECT n FROM digit) AS low) AS slot_of
 WHERE slot < :slots
 ORDER BY slot;
