<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

use Doctrine\DBAL\Connection;
use Doctrine\DBAL\Connections\PrimaryReadReplicaConnection;
use Doctrine\DBAL\Exception;
use Symfony\Component\Messenger\Exception\TransportException;

// Calls Allot's procedures over a connection of the application.
final class Submission
{
    public function __construct(private Connection $connection, private string $database, private string $application)
    {
    }

    public function typeOf(string $class): string
    {
        return TaskType::of($this->application, $class);
    }

    /** Returns the id of the task. */
    public function submit(array $task): string
    {
        $options = json_encode(
            (object) array_diff_key($task, ['queue' => 1, 'type' => 1, 'payload' => 1]), JSON_THROW_ON_ERROR);
        return $this->ask(function () use ($task, $options) {
            $this->connection->executeStatement(
                "CALL `{$this->database}`.allot_submit(?, ?, ?, ?, @allot_id, @allot_existed)",
                [$task['queue'], $task['type'], $task['payload'], $options]);
            return (string) $this->connection->fetchOne('SELECT @allot_id');
        });
    }

    public function waiting(string $queue): int
    {
        $figures = $this->ask(fn () => $this->connection->fetchAssociative(
            "CALL `{$this->database}`.allot_queue_figures(?)", [$queue]));
        return min(10000, $figures['waiting'] + $figures['delayed'] + $figures['detached']);
    }

    // A procedure returns its result in variables of the write connection, with replicas the
    // primary.
    private function ask(callable $what)
    {
        try {
            if ($this->connection instanceof PrimaryReadReplicaConnection) {
                $this->connection->ensureConnectedToPrimary();
            }
            return $what();
        } catch (Exception $error) {
            throw new TransportException($error->getMessage(), 0, $error);
        }
    }
}
