-- Guard of a minute (S50): locks the row of the instance, and fails (1690, out of range) unless the
-- last write is the one that the writer has read. The server then does not reach the COMMIT after
-- it in the same packet, so that two stewards, or a packet that is sent again, write each count
-- once.
SELECT ~0 + (COUNT(*) = 0)
  FROM instance
 WHERE origin = :origin AND write_no = :write_no
   FOR UPDATE;
