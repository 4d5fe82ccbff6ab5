<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Laravel;

use Illuminate\Contracts\Queue\Queue as QueueContract;
use Illuminate\Database\Connection;
use Illuminate\Queue\InvalidPayloadException;
use Illuminate\Queue\Queue;

// Submits jobs with Allot's procedures over the application's own connection, so that a job
// commits, or is rolled back, with the rows of the transaction that dispatches it.
final class AllotQueue extends Queue implements QueueContract
{
    private const MAX_TASKS = 1000;      // limit of an allot_submit_many
    private const MAX_BYTES = 4 << 20;   // of its argument; max_allowed_packet is at least this
    private const MAX_ATTEMPTS = 100000;
    private const MAX_PAYLOAD = (16 << 20) - 1;

    public function __construct(
        private Connection $database,
        private Signature $signature,
        private CurrentTask $current,
        private array $settings
    ) {
        $this->dispatchAfterCommit = $settings['after_commit'] ?? false;
    }

    public function getQueue($queue): string
    {
        return $queue ?: ($this->settings['queue'] ?? 'default');
    }

    public function settings(): array
    {
        return $this->settings;
    }

    public function push($job, $data = '', $queue = null)
    {
        return $this->enqueue($job, $data, $queue, null);
    }

    public function later($delay, $job, $data = '', $queue = null)
    {
        return $this->enqueue($job, $data, $queue, $delay);
    }

    /** The payload is the framework's JSON; it is signed here. */
    public function pushRaw($payload, $queue = null, array $options = [])
    {
        $job = json_decode($payload, true);
        if (DeadTasks::isMarked($job)) {
            return $this->container->make(DeadTasks::class)->retry($job, fn ($json) => $this->submit($json, $queue));
        }
        if ($this->current->is($job['uuid'] ?? null)) {
            return $this->current->job()->enqueueAgain(
                $payload, $this->task($payload, $queue, []), (int) ($options['delay'] ?? 0));
        }
        return $this->submit($payload, $queue);
    }

    public function bulk($jobs, $data = '', $queue = null)
    {
        $tasks = [];
        foreach ((array) $jobs as $job) {
            if ($this->shouldDispatchAfterCommit($job)) {
                $this->enqueue($job, $data, $queue, $job->delay ?? null);
                continue;
            }
            $delay = is_object($job) ? ($job->delay ?? null) : null;
            $payload = $this->createPayload($job, $this->getQueue($queue), $data, $delay);
            $tasks[] = $this->task($payload, $queue, $this->optionsOf($job, $delay));
        }
        $this->submitMany($tasks);
    }

    public function pop($queue = null)
    {
        throw new \LogicException(
            'jobs of Allot are run by allotd, which keeps "php artisan allot:work" by its plugin pipe; ' .
            'queue:work does not apply');
    }

    // Counts end at 10,000. SQL sees a running task only if it is detached.

    public function size($queue = null)
    {
        $figures = $this->figures($queue);
        return min(10000, $figures->waiting + $figures->delayed + $figures->detached);
    }

    public function pendingSize($queue = null)
    {
        return $this->figures($queue)->waiting;
    }

    public function delayedSize($queue = null)
    {
        return $this->figures($queue)->delayed;
    }

    public function reservedSize($queue = null)
    {
        return $this->figures($queue)->detached;
    }

    public function creationTimeOfOldestPendingJob($queue = null)
    {
        return $this->figures($queue)->oldest_due;
    }

    private function figures($queue): object
    {
        $row = $this->database->selectOne(
            "CALL {$this->procedure('allot_queue_figures')}(?)", [$this->getQueue($queue)], false);
        return (object) array_map(fn ($value) => $value === null ? null : (int) $value, (array) $row);
    }

    private function enqueue($job, $data, $queue, $delay)
    {
        return $this->enqueueUsing(
            $job,
            $this->createPayload($job, $this->getQueue($queue), $data, $delay),
            $queue,
            $delay,
            fn ($payload, $queue, $delay) => $this->submit($payload, $queue, $this->optionsOf($job, $delay))
        );
    }

    // A transaction on Allot's connection commits the job, so after_commit has no effect. For a
    // transaction on another connection the framework waits as usual.
    protected function shouldDispatchAfterCommit($job)
    {
        return parent::shouldDispatchAfterCommit($job) && $this->database->transactionLevel() === 0;
    }

    private function submit(string $payload, $queue, array $options = [])
    {
        $task = $this->task($payload, $queue, $options);
        $more = array_diff_key($task, ['queue' => 1, 'type' => 1, 'payload' => 1]);
        $this->database->statement(
            "CALL {$this->procedure('allot_submit')}(?, ?, ?, ?, @allot_id, @allot_existed)",
            [$task['queue'], $task['type'], $task['payload'], json_encode((object) $more, JSON_THROW_ON_ERROR)]);
        // Uses the write connection: with a read/write split a SELECT would use the read
        // connection.
        return $this->database->selectOne('SELECT @allot_id AS id', [], false)->id;
    }

    private function submitMany(array $tasks): void
    {
        $lists = $this->lists($tasks);
        $send = function () use ($lists) {
            foreach ($lists as $list) {
                $this->database->statement("CALL {$this->procedure('allot_submit_many')}(?, @allot_made)", [$list]);
            }
        };
        count($lists) > 1 ? $this->database->transaction($send) : $send();
    }

    /** @return string[] JSON arrays of at most MAX_TASKS tasks and about MAX_BYTES. */
    private function lists(array $tasks): array
    {
        [$lists, $list, $bytes] = [[], [], 0];
        foreach ($tasks as $task) {
            $json = json_encode($task, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE);
            if ($list && (count($list) === self::MAX_TASKS || $bytes + strlen($json) > self::MAX_BYTES)) {
                $lists[] = '[' . implode(',', $list) . ']';
                [$list, $bytes] = [[], 0];
            }
            $list[] = $json;
            $bytes += strlen($json);
        }
        return $list ? [...$lists, '[' . implode(',', $list) . ']'] : $lists;
    }

    /** A task with the names of Allot's options, from the framework's payload. */
    private function task(string $payload, $queue, array $options): array
    {
        $job = json_decode($payload, true) ?? [];
        $tries = (int) ($job['maxTries'] ?? $this->settings['tries'] ?? 1);
        $unlimited = $tries === 0 || !empty($job['retryUntil']);
        $name = $job['displayName'] ?? $job['job'] ?? 'job';
        $task = [
            'queue' => $this->getQueue($queue),
            'type' => TaskType::of($this->settings['application'], $name),
            'payload' => $this->signed($payload, $name),
            // S83: one more than the framework's tries, because a last try that dies with its
            // process needs another attempt, in which the framework records the failure without
            // running the job.
            'max_attempts' => $unlimited ? self::MAX_ATTEMPTS : min(self::MAX_ATTEMPTS, $tries + 1),
        ];
        if (($job['timeout'] ?? 0) > 0) {
            // The time limit includes the start of a new process.
            $task['time_limit'] = $job['timeout'] + ($this->settings['start_seconds'] ?? 10) . 's';
        }
        return $options + $task;
    }

    /** Refuses an invalid payload before a statement fails in the open transaction. */
    private function signed(string $payload, string $name): string
    {
        $signed = $this->signature->sign($payload);
        if (strlen($signed) > self::MAX_PAYLOAD) {
            throw new InvalidPayloadException(sprintf(
                'payload of %s is %d bytes with its signature; the limit is %d (16 MiB - 1). ' .
                'Store the data elsewhere and dispatch a reference.', $name, strlen($signed), self::MAX_PAYLOAD));
        }
        return $signed;
    }

    private function optionsOf($job, $delay): array
    {
        $options = $delay === null ? [] : ['delay' => max(0, $this->secondsUntil($delay)) . 's'];
        if (!is_object($job)) {
            return $options;
        }
        if (in_array(UniqueInAllot::class, class_uses_recursive($job))) {
            $options += ['unique_key' => $job->allotUniqueKey(), 'unique_for' => '0s'];
        }
        return method_exists($job, 'allotOptions') ? $options + $job->allotOptions() : $options;
    }

    private function procedure(string $name): string
    {
        return '`' . ($this->settings['database'] ?? 'allot') . '`.' . $name;
    }
}
