-- The guard of a minute (S50): locks the row of the instance, and fails (1690, out of range) unless what
-- was written last is what the writer read. The server does not reach the COMMIT behind it in the same
-- packet then, so that two stewards, or a packet that is sent again, write each count once.
SELECT ~0 + (COUNT(*) = 0)
  FROM instance
 WHERE origin = :origin AND written = :written
   FOR UPDATE;
