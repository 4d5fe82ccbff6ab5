DELETE FROM fireworq_routing WHERE category = :category;
