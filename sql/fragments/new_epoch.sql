-- S2: no epoch is given twice, also when the row was restored from a backup.
epoch = GREATEST(epoch + 1, {now})
