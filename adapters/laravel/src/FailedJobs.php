<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Laravel;

use Illuminate\Queue\Failed\FailedJobProviderInterface;

// The failed jobs for queue:failed, queue:retry, queue:forget and queue:flush: dead tasks of Allot,
// and jobs of other connections in the framework's own storage.
final class FailedJobs implements FailedJobProviderInterface
{
    public function __construct(private FailedJobProviderInterface $others, private DeadTasks $dead)
    {
    }

    /** Called only for other connections: a dead task of Allot is its own record. */
    public function log($connection, $queue, $payload, $exception)
    {
        return $this->others->log($connection, $queue, $payload, $exception);
    }

    public function ids($queue = null)
    {
        $own = array_filter($this->dead->all(), fn ($job) => $queue === null || $job->queue === $queue);
        return array_merge(array_column($own, 'id'), $this->others->ids($queue));
    }

    public function all()
    {
        return array_merge($this->dead->all(), $this->others->all());
    }

    public function find($id)
    {
        return self::isTask($id) ? $this->dead->find($id) : $this->others->find($id);
    }

    public function forget($id)
    {
        return self::isTask($id) ? $this->dead->discard($id) : $this->others->forget($id);
    }

    public function flush($hours = null)
    {
        $before = $hours === null ? null : time() - 3600 * $hours;
        foreach ($this->dead->all() as $job) {
            if ($before === null || strtotime($job->failed_at) <= $before) {
                $this->dead->discard($job->id);
            }
        }
        $this->others->flush($hours);
    }

    // The framework's own ids are UUIDs, or shorter numbers.
    private static function isTask($id): bool
    {
        return preg_match('/^[0-9A-Za-z]{16,40}$/', (string) $id) === 1;
    }
}
