-- Queue that takes the jobs of a category.
SELECT category, queue_name FROM fireworq_routing WHERE category = :category;
