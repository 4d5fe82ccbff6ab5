-- Seconds since the server started: a duration, so that no two clocks are compared.
SHOW GLOBAL STATUS LIKE 'Uptime';
