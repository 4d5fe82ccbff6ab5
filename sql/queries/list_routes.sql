SELECT route.queue_id, source.name, route.is_prefix, route.pattern, target.queue_id, target.name,
       {moment route.set_at}
  FROM route
  JOIN queue AS target ON target.queue_id = route.target_id
  LEFT JOIN queue AS source ON source.queue_id = route.queue_id
 ORDER BY route.queue_id = 0, source.name, route.is_prefix, CHAR_LENGTH(route.pattern) DESC,
          route.pattern;
