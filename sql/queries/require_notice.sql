-- Runs before clear_notice.sql and a submission in the same packet: fails (1690, out of range) if
-- the notice is not raised any more, like require_task.sql.
SELECT ~0 + (COUNT(*) = 0) FROM notice WHERE kind = :kind AND subject = :subject FOR UPDATE;
