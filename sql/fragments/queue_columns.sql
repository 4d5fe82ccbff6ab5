-- Columns of a queue, as queue_in() of daemon/queue/model/catalog.cc reads them.
queue_id, name, partitions, placement, max_running, first_partition, layout, cap, routed,
       superseded_by
