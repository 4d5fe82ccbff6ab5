-- Deletes numbers whose tasks are gone.
DELETE /*+ INDEX(fireworq_job PRIMARY) */ FROM fireworq_job WHERE job_id IN (:job_ids);
