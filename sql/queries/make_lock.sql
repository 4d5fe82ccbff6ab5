-- Makes the slots of a new name, all or none of them: of two clients with different numbers the
-- first one decides.
INSERT INTO named_lock (name, slot, slots, epoch, state, expire_at, ttl_us, taken_at)
SELECT :name, slot, :slots, slot, 'FREE', UTC_TIMESTAMP(6), 0, UTC_TIMESTAMP(6)
  FROM {slot_numbers}
 WHERE slot < :slots
 ORDER BY slot;
