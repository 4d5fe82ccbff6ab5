-- Begins terms. :seen names each duty and its row as watch_duties.sql showed it over (S46): the
-- second of two concurrent statements waits for the first one's row, and then finds it changed. (A time
-- would not do: the time of a statement is its start.) A repeat after a lost reply finds its own
-- term. All writers of duties lock them in the order of the key.
UPDATE /*+ INDEX(queue_duty PRIMARY) */ queue_duty
   SET since = IF(holder = :holder, since, UTC_TIMESTAMP(6)),
       holder = :holder, holder_host = :host, holder_instance = :instance, holder_pid = :pid,
       free_at = UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND
 WHERE :seen;
