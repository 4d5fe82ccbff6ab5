UPDATE task_running
   SET payload = :payload, flags = flags & ~:compressed_flags | :stored_flags
 WHERE {my_detached};
