-- Address of this connection as the server sees it.
SELECT SUBSTRING_INDEX(USER(), CHAR(64 USING utf8mb4), -1);
