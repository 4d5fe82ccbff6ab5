-- The queue of a hook, if a hook can be submitted to it.
(SELECT target.queue_id, target.partitions
          FROM queue AS named
          JOIN queue AS target
            ON target.queue_id = IF(named.routed = 0, named.queue_id,
                                    COALESCE(:best_route, named.queue_id))
         WHERE named.name = :hook_queue AND target.placement = 'spread'
         LIMIT 1) AS target
