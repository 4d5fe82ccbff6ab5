-- To all clients together; to this account, where 0 is no limit.
SELECT @@global.max_connections, @@session.max_user_connections;
