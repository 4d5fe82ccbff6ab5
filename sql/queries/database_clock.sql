-- For display next to a host's clock, and with scout.sql to notice that it was set back.
SELECT {unix UTC_TIMESTAMP(6)};
