SELECT reason, {moment requested_at}, as_done
  FROM task_cancel
 WHERE {this_id};
