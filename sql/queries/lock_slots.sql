SELECT slots FROM named_lock WHERE name = :name AND slot = 0;
