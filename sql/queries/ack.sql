-- The only write without a fence (S6): a finished task stays finished.
DELETE /*+ INDEX(task PRIMARY) */ FROM task
 WHERE {these_tasks};
