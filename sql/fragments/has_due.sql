-- The partition of `lease` has a task that is due. Scalar subqueries, one probe per class: the EXISTS
-- form is materialised by the optimiser and grows with the backlog.
({head 1} <= {last_due_key}
     OR {head 0} <= {last_due_key}
     OR {head 2} <= {last_due_key}
     OR {head 3} <= {last_due_key})
