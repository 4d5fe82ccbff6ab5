-- Rule: S9.
KILL CONNECTION :connection_id;
