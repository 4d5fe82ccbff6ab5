-- A notice that is raised already is an error (1062): then the server does not reach the submission and
-- COMMIT, which come after it in the same packet.
INSERT INTO notice (kind, subject, raised_at, detail, task)
VALUES (:kind, :subject, UTC_TIMESTAMP(6), LEFT(:detail, 255), :task);
