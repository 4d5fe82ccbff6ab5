-- One row of add_type_hours.sql.
SELECT :queue AS queue, :type AS type,
       :done AS done, :retried AS retried, :dead AS dead, :ran_0 AS ran_0, :ran_1 AS ran_1,
       :ran_2 AS ran_2, :ran_3 AS ran_3, :ran_4 AS ran_4, :ran_5 AS ran_5, :ran_6 AS ran_6,
       :ran_7 AS ran_7, :ran_8 AS ran_8, :ran_9 AS ran_9, :ran_10 AS ran_10, :ran_11 AS ran_11,
       :ran_12 AS ran_12, :ran_13 AS ran_13, :ran_14 AS ran_14, :ran_15 AS ran_15, :ran_16 AS ran_16,
       :ran_17 AS ran_17, :ran_18 AS ran_18, :ran_19 AS ran_19, :wait_0 AS wait_0, :wait_1 AS wait_1,
       :wait_2 AS wait_2, :wait_3 AS wait_3, :wait_4 AS wait_4, :wait_5 AS wait_5, :wait_6 AS wait_6,
       :wait_7 AS wait_7, :wait_8 AS wait_8, :wait_9 AS wait_9, :wait_10 AS wait_10,
       :wait_11 AS wait_11, :wait_12 AS wait_12, :wait_13 AS wait_13, :wait_14 AS wait_14,
       :wait_15 AS wait_15, :wait_16 AS wait_16, :wait_17 AS wait_17, :wait_18 AS wait_18,
       :wait_19 AS wait_19
