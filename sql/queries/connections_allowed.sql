-- Limits for all clients together, and for this account. 0: no limit; on TiDB the first one, too.
SELECT COALESCE(NULLIF(@@global.max_connections, 0), 4294967295), @@session.max_user_connections;
