-- Keeps entries for :keep_us, and only the newest: those up to :last_number are deleted earlier.
DELETE /*+ INDEX(audit at) */ FROM audit
 WHERE at < UTC_TIMESTAMP(6) - INTERVAL :keep_us MICROSECOND
 LIMIT :limit;
DELETE /*+ INDEX(audit PRIMARY) */ FROM audit
 WHERE audit_id <= :last_number
 LIMIT :limit;
