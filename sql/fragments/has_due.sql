-- The partition of `lease` has a due task. Scalar subqueries, one probe per class: the optimiser
-- materialises the EXISTS form, which then grows with the backlog.
({head 1} <= {last_due_key}
     OR {head 0} <= {last_due_key}
     OR {head 2} <= {last_due_key}
     OR {head 3} <= {last_due_key})
