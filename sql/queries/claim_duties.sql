-- Begins terms. :seen names each duty and its row as watch_duties.sql showed it over (S46): of two that
-- claim at once, the second waits for the first one's row, and then finds another. (A time would not
-- do: that of a statement is when it began.) Sent again after a lost reply it finds its own term. All
-- that write duties lock them in the order of the key.
UPDATE /*+ INDEX(queue_duty PRIMARY) */ queue_duty
   SET since = IF(holder = :holder, since, UTC_TIMESTAMP(6)),
       holder = :holder, holder_host = :host, holder_instance = :instance, holder_pid = :pid,
       free_at = UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND
 WHERE :seen;
