-- Where a ticket stands: how many live ones are before it, whether it is there, and which slots are
-- free; after a change of server none is for a while (S48), so that nobody thinks that those before
-- it do not want them. A ticket whose end is further ahead than that of any that is renewed now is not live: the
-- clock was set back, and its client is gone or renews it soon.
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
