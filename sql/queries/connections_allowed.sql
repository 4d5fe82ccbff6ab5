-- For all clients together; and for this account, where 0 is no limit.
SELECT @@global.max_connections, @@session.max_user_connections;
