-- Runs with write_minute.sql: adds the counts since the last write to this hour. :hours is one
-- type_hour_row.sql for each pair, joined by UNION ALL, in the order of the key.
INSERT INTO type_hour (hour_at, queue, type,
                       done, retried, dead, ran_0, ran_1, ran_2, ran_3, ran_4, ran_5, ran_6, ran_7,
                       ran_8, ran_9, ran_10, ran_11, ran_12, ran_13, ran_14, ran_15, ran_16, ran_17,
                       ran_18, ran_19, wait_0, wait_1, wait_2, wait_3, wait_4, wait_5, wait_6, wait_7,
                       wait_8, wait_9, wait_10, wait_11, wait_12, wait_13, wait_14, wait_15, wait_16,
                       wait_17, wait_18, wait_19)
SELECT DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%d %H:00:00'), hours.*
  FROM (:hours) AS hours
    ON DUPLICATE KEY UPDATE
       done = type_hour.done + VALUES(done), retried = type_hour.retried + VALUES(retried),
       dead = type_hour.dead + VALUES(dead), ran_0 = type_hour.ran_0 + VALUES(ran_0),
       ran_1 = type_hour.ran_1 + VALUES(ran_1), ran_2 = type_hour.ran_2 + VALUES(ran_2),
       ran_3 = type_hour.ran_3 + VALUES(ran_3), ran_4 = type_hour.ran_4 + VALUES(ran_4),
       ran_5 = type_hour.ran_5 + VALUES(ran_5), ran_6 = type_hour.ran_6 + VALUES(ran_6),
       ran_7 = type_hour.ran_7 + VALUES(ran_7), ran_8 = type_hour.ran_8 + VALUES(ran_8),
       ran_9 = type_hour.ran_9 + VALUES(ran_9), ran_10 = type_hour.ran_10 + VALUES(ran_10),
       ran_11 = type_hour.ran_11 + VALUES(ran_11), ran_12 = type_hour.ran_12 + VALUES(ran_12),
       ran_13 = type_hour.ran_13 + VALUES(ran_13), ran_14 = type_hour.ran_14 + VALUES(ran_14),
       ran_15 = type_hour.ran_15 + VALUES(ran_15), ran_16 = type_hour.ran_16 + VALUES(ran_16),
       ran_17 = type_hour.ran_17 + VALUES(ran_17), ran_18 = type_hour.ran_18 + VALUES(ran_18),
       ran_19 = type_hour.ran_19 + VALUES(ran_19), wait_0 = type_hour.wait_0 + VALUES(wait_0),
       wait_1 = type_hour.wait_1 + VALUES(wait_1), wait_2 = type_hour.wait_2 + VALUES(wait_2),
       wait_3 = type_hour.wait_3 + VALUES(wait_3), wait_4 = type_hour.wait_4 + VALUES(wait_4),
       wait_5 = type_hour.wait_5 + VALUES(wait_5), wait_6 = type_hour.wait_6 + VALUES(wait_6),
       wait_7 = type_hour.wait_7 + VALUES(wait_7), wait_8 = type_hour.wait_8 + VALUES(wait_8),
       wait_9 = type_hour.wait_9 + VALUES(wait_9), wait_10 = type_hour.wait_10 + VALUES(wait_10),
       wait_11 = type_hour.wait_11 + VALUES(wait_11), wait_12 = type_hour.wait_12 + VALUES(wait_12),
       wait_13 = type_hour.wait_13 + VALUES(wait_13), wait_14 = type_hour.wait_14 + VALUES(wait_14),
       wait_15 = type_hour.wait_15 + VALUES(wait_15), wait_16 = type_hour.wait_16 + VALUES(wait_16),
       wait_17 = type_hour.wait_17 + VALUES(wait_17), wait_18 = type_hour.wait_18 + VALUES(wait_18),
       wait_19 = type_hour.wait_19 + VALUES(wait_19);
