-- Since when a holder is silent: it renews at a third of the TTL.
IF({arg}.expire_at - INTERVAL {arg}.ttl_us DIV 2 MICROSECOND < UTC_TIMESTAMP(6),
          {moment {arg}.expire_at - INTERVAL {arg}.ttl_us MICROSECOND}, NULL)
