-- Entries are kept for :keep_us, and the newest only: those up to :last_number go before.
DELETE /*+ INDEX(audit at) */ FROM audit
 WHERE at < UTC_TIMESTAMP(6) - INTERVAL :keep_us MICROSECOND
 LIMIT :most;
DELETE /*+ INDEX(audit PRIMARY) */ FROM audit
 WHERE audit_id <= :last_number
 LIMIT :most;
