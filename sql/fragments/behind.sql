-- The next page, in the order of the table.
(partition_no > :partition_no
        OR partition_no = :partition_no AND prio > :prio
        OR partition_no = :partition_no AND prio = :prio AND {arg} > :{arg})
