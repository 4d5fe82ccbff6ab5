-- S2: no epoch is used twice, even if the row was restored from a backup.
epoch = GREATEST(epoch + 1, {now})
