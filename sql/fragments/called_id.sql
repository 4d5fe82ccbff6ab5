-- Rows that belong to the task of a procedure's call: like {this_id}.
queue_id = p_queue_id AND partition_no = p_partition_no AND prio = p_prio AND first_key = p_first_key
