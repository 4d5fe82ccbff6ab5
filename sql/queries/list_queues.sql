SELECT queue.queue_id, queue.name, queue.partitions, queue.placement, queue.max_running,
       DATE_FORMAT(pause.paused_at, '%Y-%m-%dT%H:%i:%s.%fZ'), pause.reason
  FROM queue
  LEFT JOIN queue_pause AS pause ON pause.queue_id = queue.queue_id
 ORDER BY queue.name;
