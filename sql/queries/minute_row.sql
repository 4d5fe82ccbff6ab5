-- One row of write_minute.sql.
SELECT :row_no AS row_no, :queue AS queue, :type AS type, :error_group AS error_group, :error AS error,
       :done AS done, :retried AS retried, :snoozed AS snoozed, :interrupted AS interrupted, :dead AS dead,
       :cancelled AS cancelled, :crashed AS crashed, :ran_us AS ran_us, :ran_10ms AS ran_10ms,
       :ran_100ms AS ran_100ms, :ran_1s AS ran_1s, :ran_10s AS ran_10s, :ran_1min AS ran_1min,
       :ran_longer AS ran_longer
