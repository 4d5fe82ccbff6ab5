-- Last write of an instance: its number, the run of its allotd, and the totals at that time.
SELECT write_no, run_id, totals FROM instance WHERE origin = :origin;
