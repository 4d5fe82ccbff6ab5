-- Changes the number of slots of a name. Held slots beyond it stay held, and are not taken again.
-- The first statement locks the rows, so that the second sees the rows of another resize. A name
-- without rows is left unchanged.
UPDATE named_lock SET slots = :slots WHERE name = :name;
INSERT INTO named_lock (name, slot, slots, epoch, state, expire_at, ttl_us, taken_at)
SELECT :name, slot, :slots, slot, 'FREE', UTC_TIMESTAMP(6), 0, UTC_TIMESTAMP(6)
  FROM {slot_numbers}
 WHERE slot < :slots
   AND slot >= (SELECT NULLIF(COUNT(*), 0) FROM (SELECT slot FROM named_lock WHERE name = :name) AS made)
 ORDER BY slot;
