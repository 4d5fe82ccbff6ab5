-- Takes a free slot with a ticket, whose row is locked first: a repeat after a lost reply waits for
-- the earlier try, finds the ticket gone if that one succeeded, and reads back its slot. Only the
-- oldest `slots` live tickets succeed. The token increases even if the clock does not (S40).
-- note_server.sql comes before it, in a transaction of its own: no lock is taken for a TTL plus a
-- second after a server change (S48). The new server may show it free because it lost the commit of
-- its current holder, whose TTL may be the former holder's, or this one's.
-- Rule: S38.
SELECT ticket FROM lock_ticket WHERE lock_by = :holder FOR UPDATE;
UPDATE named_lock
   SET epoch = GREATEST(epoch + 1024,
                        ({known_now}
                         << 10) + slot),
       lock_by = :holder,
       lock_host = :host,
       lock_pid = :pid,
       state = 'LOCKED',
       expire_at = UTC_TIMESTAMP(6) + INTERVAL :ttl_us MICROSECOND,
       ttl_us = :ttl_us,
       taken_at = UTC_TIMESTAMP(6)
 WHERE name = :name AND slot = :slot AND slot < slots AND state = 'FREE'
   AND (SELECT since FROM server_identity WHERE only_row = 1)
       <= UTC_TIMESTAMP(6) - INTERVAL 1000000 + GREATEST(ttl_us, :ttl_us) MICROSECOND
   AND (SELECT ticket FROM lock_ticket WHERE lock_by = :holder) = :ticket
   AND (SELECT COUNT(*) FROM lock_ticket
         WHERE name = :name AND ticket < :ticket AND expire_at > UTC_TIMESTAMP(6)
           AND expire_at <= UTC_TIMESTAMP(6) + INTERVAL ttl_us MICROSECOND) < slots;
DELETE FROM lock_ticket
 WHERE lock_by = :holder
   AND (SELECT slot FROM named_lock WHERE lock_by = :holder) IS NOT NULL;
SELECT slot, epoch FROM named_lock WHERE lock_by = :holder;
