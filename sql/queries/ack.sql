-- A finished task is finished, so this is the one write that needs no fence (S6).
DELETE /*+ INDEX(task PRIMARY) */ FROM task
 WHERE {these_tasks};
