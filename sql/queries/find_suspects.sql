-- Tasks that the lost holder may have been running (S7): the first :per_class of each class that
-- were due when its lease was taken over or reclaimed. Payload sizes limit how many are marked by
-- one statement.
{suspects_of 0}
UNION ALL
{suspects_of 1}
UNION ALL
{suspects_of 2}
UNION ALL
{suspects_of 3};
