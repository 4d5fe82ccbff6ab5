-- Queue that takes the jobs of each category.
SELECT category, queue_name FROM fireworq_routing ORDER BY queue_name, category;
