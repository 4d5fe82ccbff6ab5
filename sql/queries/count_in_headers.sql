-- Writes a count into the headers of a task, in the transaction that ends its attempt: attempts
-- with a verdict ('verdicts='), or attempts that did not start ('unstarted='). The number is
-- absolute, so that a repeat counts nothing twice; its line is the last that Allot writes, so the
-- lines before it stay. A task never has both counts.
-- Rule: S75.
UPDATE task
   SET headers = SUBSTRING(CONCAT(
         SUBSTRING_INDEX(COALESCE(CONCAT(CHAR(10), headers), ''), CONCAT(CHAR(10), :line), 1),
         CHAR(10), :line, :count), 2)
 WHERE {this_task}
   AND {fence};
