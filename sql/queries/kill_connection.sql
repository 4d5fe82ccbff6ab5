KILL CONNECTION :connection_id;
