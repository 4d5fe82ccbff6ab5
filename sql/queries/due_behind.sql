-- Like due_now.sql, after a task of the same partition and class.
GREATEST({now} << 12, :last_key + 1)
