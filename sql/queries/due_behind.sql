-- Like due_now.sql, behind a task of the same partition and class.
GREATEST({now} << 12, :last_key + 1)
