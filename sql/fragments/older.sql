-- Rows of a list by time, newest first, after the last row of the page before.
{arg} <= :before
   AND ({arg} < :before
        OR partition_no < :partition_no
        OR partition_no = :partition_no AND prio < :prio
        OR partition_no = :partition_no AND prio = :prio AND first_key < :first_key)
