-- Gives tasks their small numbers, in the transaction that submits them. The insert id is the
-- number of the first row; the others follow at this distance.
INSERT INTO fireworq_job (queue_id, partition_no, prio, first_key) VALUES :rows;
SELECT @@auto_increment_increment;
