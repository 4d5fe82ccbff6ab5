-- Gives tasks their small numbers, in the transaction that submits them. The insert id is that of the
-- first row; those of the others follow at this distance.
INSERT INTO fireworq_job (queue_id, partition_no, prio, first_key) VALUES :rows;
SELECT @@auto_increment_increment;
