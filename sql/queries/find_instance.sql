-- Last write of an instance: its number, the run of its allotd, and the totals at that time.
SELECT written, life, counted FROM instance WHERE origin = :origin;
