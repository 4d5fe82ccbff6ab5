-- Its writer leaves. After a reload the row is that of the next steward, and stays.
DELETE FROM host_snapshot WHERE origin = :origin AND writer = :holder;
