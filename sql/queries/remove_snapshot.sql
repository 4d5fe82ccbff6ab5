-- Runs when its writer leaves. After a reload the row belongs to the next steward, and stays.
DELETE FROM host_snapshot WHERE origin = :origin AND writer = :holder;
