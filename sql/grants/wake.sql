-- The account of [wake]: the steward follows the binary log. It can read every change in every database of the
-- server (docs/database.md). REPLICATION CLIENT is for the end of the log.
CREATE USER 'allot_wake'@'%' IDENTIFIED BY 'change-me';
GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO 'allot_wake'@'%';
