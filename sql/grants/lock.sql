-- A user of named locks: allot lock run, and the client library.
CREATE USER 'allot_lock'@'%' IDENTIFIED BY 'change-me';
GRANT SELECT ON allot.allot_schema TO 'allot_lock'@'%';
GRANT SELECT, INSERT, UPDATE ON allot.named_lock TO 'allot_lock'@'%';
GRANT SELECT, INSERT, UPDATE, DELETE ON allot.lock_ticket TO 'allot_lock'@'%';
GRANT SELECT, INSERT, UPDATE ON allot.server_identity TO 'allot_lock'@'%';   -- S48: it writes down a change of server
GRANT SELECT ON allot.queue TO 'allot_lock'@'%';   -- S53
