-- Raising a raised notice is an error (1062): the server then does not reach the submission and
-- COMMIT after it in the same packet.
INSERT INTO notice (kind, subject, raised_at, detail, task)
VALUES (:kind, :subject, UTC_TIMESTAMP(6), LEFT(:detail, 255), :task);
