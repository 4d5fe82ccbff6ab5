<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Laravel;

use Illuminate\Contracts\Container\Container;
use Illuminate\Contracts\Queue\Job as JobContract;
use Illuminate\Queue\Jobs\Job;

// A task in the framework's worker. The actions of the framework become the verdict of the task
// (README.md has the table).
final class AllotJob extends Job implements JobContract
{
    private array $decoded;
    private ?\Throwable $error = null;
    private int $delay = 0;
    private bool $enqueuedAgain = false;
    private bool $replaced = false;

    public function __construct(
        Container $container,
        string $connectionName,
        private Pipe $pipe,
        private Signature $signature,
        private array $task,
        string $json
    ) {
        $this->container = $container;
        $this->connectionName = $connectionName;
        $this->queue = $task['queue'];
        // Events, logs and commands identify the job by its task id.
        $this->decoded = ['uuid' => $task['id'], 'id' => $task['id']] + json_decode($json, true);
    }

    public function getJobId()
    {
        return $this->task['id'];
    }

    public function getRawBody()
    {
        return json_encode($this->decoded, JSON_UNESCAPED_UNICODE);
    }

    public function payload()
    {
        return $this->decoded;
    }

    public function attempts()
    {
        return $this->task['attempt'];
    }

    public function release($delay = 0)
    {
        parent::release($delay);
        $this->delay = max(0, $this->secondsUntil($delay));
    }

    public function fail($e = null)
    {
        $this->error = $e ?? $this->error;
        parent::fail($e);
    }

    public function threw(\Throwable $error): void
    {
        $this->error = $error;
    }

    /** Repeats the job: the task gets this payload, and is retried or moves to that queue. */
    public function enqueueAgain(string $json, array $task, int $delay): string
    {
        if ($task['queue'] === $this->queue) {
            $this->pipe->checkpoint($this->task['id'], $this->signature->sign($json));
            $this->enqueuedAgain = true;
            $this->delay = $delay;
        } else {
            $this->pipe->replaceWith($this->task['id'], $task + ($delay > 0 ? ['delay' => "{$delay}s"] : []));
            $this->replaced = true;
        }
        return $this->task['id'];
    }

    public function verdict(): array
    {
        if ($this->hasFailed()) {
            return Verdict::fail($this->error);
        }
        if ($this->replaced) {
            return Verdict::success();
        }
        if ($this->enqueuedAgain || $this->isReleased()) {
            return Verdict::retry($this->error, 'released by the job', $this->delay);
        }
        return $this->isDeleted() ? Verdict::success()
            : Verdict::retry($this->error, 'the job was neither deleted nor released', null);
    }
}
