-- Seconds since the server started: a duration, so that nobody compares two clocks.
SHOW GLOBAL STATUS LIKE 'Uptime';
