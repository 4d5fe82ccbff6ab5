-- Before clear_notice.sql and a submission in the same packet: it fails (1690, out of range) where the
-- notice is not raised any more, as require_task.sql does.
SELECT ~0 + (COUNT(*) = 0) FROM notice WHERE kind = :kind AND subject = :subject FOR UPDATE;
