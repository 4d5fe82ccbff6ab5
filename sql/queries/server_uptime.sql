-- Seconds since the server started: a duration, so that no clock is compared with another.
SHOW GLOBAL STATUS LIKE 'Uptime';
