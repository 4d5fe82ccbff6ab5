-- Limits for all clients together, and for this account (0: no limit).
SELECT @@global.max_connections, @@session.max_user_connections;
