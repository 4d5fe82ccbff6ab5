-- Writes a count into the headers of a task, in the transaction that ends its attempt: how many had a
-- verdict ('verdicts='), or how many did not start ('unstarted='). The number is absolute, so that a
-- repeat counts nothing twice; it is the last of the lines that Allot writes, so that what stands
-- before it stays. No task has both.
UPDATE task
   SET headers = SUBSTRING(CONCAT(
         SUBSTRING_INDEX(COALESCE(CONCAT(CHAR(10), headers), ''), CONCAT(CHAR(10), :line), 1),
         CHAR(10), :line, :count), 2)
 WHERE {this_task}
   AND {fence};
