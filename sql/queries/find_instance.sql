-- What was written of an instance last: how many times, in which life of its allotd, and what had been
-- counted by then.
SELECT written, life, counted FROM instance WHERE origin = :origin;
