-- Deletes tickets of clients that are gone. A live client renews its ticket every two seconds, so
-- one whose end is a minute past, or too far ahead (the clock was set back), is abandoned.
DELETE FROM lock_ticket
 WHERE ticket > 0
   AND (expire_at < UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE
        OR expire_at > UTC_TIMESTAMP(6) + INTERVAL ttl_us MICROSECOND + INTERVAL 1 MINUTE);
