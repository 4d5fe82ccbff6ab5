DELETE FROM notice WHERE kind = :kind AND subject = :subject;
