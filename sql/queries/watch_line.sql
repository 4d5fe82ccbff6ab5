-- Place of a ticket: number of live tickets before it, whether it exists, and which slots are free;
-- for some time after a server change no slot is (S48), so that the tickets before it do not seem
-- to decline them. A ticket whose end is further ahead than any renewed now is not live: the clock
-- was set back, and its client is gone or renews it soon.
SELECT COALESCE(SUM(ticket < :ticket AND expire_at > UTC_TIMESTAMP(6)
                    AND expire_at <= UTC_TIMESTAMP(6) + INTERVAL ttl_us MICROSECOND), 0),
       COALESCE(SUM(ticket = :ticket), 0)
  FROM lock_ticket WHERE name = :name AND ticket <= :ticket;
SELECT slots FROM named_lock WHERE name = :name AND slot = 0;
SELECT slot FROM named_lock
 WHERE name = :name AND state = 'FREE' AND slot < slots
   AND (SELECT since FROM server_identity WHERE only_row = 1)
       <= UTC_TIMESTAMP(6) - INTERVAL 1000000 + GREATEST(ttl_us, :ttl_us) MICROSECOND
 ORDER BY slot;
