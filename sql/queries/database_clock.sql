-- For display beside a host's clock, and with scout.sql to notice that it was set back.
SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
