<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Laravel;

use Illuminate\Console\Command;
use Illuminate\Contracts\Cache\Repository as Cache;
use Illuminate\Database\DetectsLostConnections;
use Illuminate\Queue\Events\JobExceptionOccurred;
use Illuminate\Queue\Events\Looping;
use Illuminate\Queue\MaxAttemptsExceededException;
use Illuminate\Queue\Worker;
use Illuminate\Queue\WorkerOptions;

// The program that allotd runs: reads a task, passes it to the framework's worker, and answers with
// the verdict. Runs jobs one by one until allotd closes the pipe.
final class WorkCommand extends Command
{
    use DetectsLostConnections;

    private const PAUSED_SECONDS = 10;  // check interval while the application pauses
    private const RESTART = 'illuminate:queue:restart';  // cache key of queue:restart

    protected $signature = 'allot:work
        {connection=allot : Queue connection of the driver allot}
        {--force : Run jobs in maintenance mode, too}';
    protected $description = 'Run jobs of Allot; started by allotd';

    private Cache $cache;
    private Pipe $pipe;
    private Worker $worker;
    private ?AllotJob $job = null;
    private ?string $task = null;     // task without a verdict yet
    private ?string $leaves = null;   // why the process runs no further job
    private $restarted;               // queue:restart mark at the start of this process

    public function handle(Cache $cache): int
    {
        $this->cache = $cache;
        $connection = $this->argument('connection');
        $settings = $this->laravel['queue']->connection($connection)->settings();
        $options = new WorkerOptions();
        $options->maxTries = (int) ($settings['tries'] ?? 1);
        $options->backoff = $settings['backoff'] ?? 0;
        $options->sleep = 0;

        $this->worker = $this->laravel['queue.worker'];
        $this->worker->setName('allot')->setCache($cache);
        Worker::popUsing('allot', fn () => $this->job);
        $this->laravel['events']->listen(JobExceptionOccurred::class, fn ($event) => $this->threw($event));
        register_shutdown_function(fn () => $this->ended());

        $this->restarted = $cache->get(self::RESTART);
        $this->pipe = new Pipe();
        while ($task = $this->pipe->nextTask()) {
            if ($reason = $this->leaves ?? $this->oldCode()) {
                // S83: the task runs with the new code, in the process that replaces this one.
                $this->pipe->lastVerdict($task['id'], Verdict::release($reason));
                return 0;
            }
            $this->task = $task['id'];
            $verdict = $this->verdict($connection, $task, $options);
            $this->task = null;
            $this->pipe->verdict($task['id'], $verdict);
        }
        return 0;
    }

    // The reason to exit if queue:restart was called since this process started. The mark has a
    // resolution of one second, so a process that started in this second may have the old code. The
    // process exits after the end of the second, so that its replacement is newer than the mark.
    private function oldCode(): ?string
    {
        $mark = $this->cache->get(self::RESTART);
        if ($mark === $this->restarted && (int) $mark !== $_SERVER['REQUEST_TIME']) {
            return null;
        }
        if ((int) $mark === time()) {
            time_sleep_until((int) $mark + 1);
        }
        return 'queue:restart';
    }

    private function verdict(string $connection, array &$task, WorkerOptions $options): array
    {
        try {
            return $this->pauses($connection, $task['queue']) ?? $this->process($connection, $task, $options);
        } catch (\Throwable $error) {  // from outside the job, which handles its own errors
            report($error);
            return Verdict::retry($error, '', null);
        }
    }

    private function pauses(string $connection, string $queue): ?array
    {
        if ($this->laravel->isDownForMaintenance() && !$this->option('force')) {
            return Verdict::snooze(self::PAUSED_SECONDS, 'the application is in maintenance mode');
        }
        if ($this->laravel['events']->until(new Looping($connection, $queue)) === false) {
            return Verdict::snooze(self::PAUSED_SECONDS, 'a listener of Looping returned false');
        }
        return null;
    }

    private function process(string $connection, array &$task, WorkerOptions $options): array
    {
        $signature = $this->laravel[Signature::class];
        $json = $signature->verified($task['payload']);
        unset($task['payload']);  // may be large, and the framework has its own copy
        if ($json === null) {
            return Verdict::fail(null, "the payload is not signed with this application's key (app.key)");
        }
        $this->resetScope();
        $this->job = new AllotJob($this->laravel, $connection, $this->pipe, $signature, $task, $json);
        unset($json);
        $this->laravel[CurrentTask::class]->begin($this->job);
        try {
            if ($this->timedOut()) {
                $this->job->fail(new MaxAttemptsExceededException("{$this->job->resolveName()} has timed out."));
            } else {
                $this->worker->runNextJob($connection, $task['queue'], $options);
            }
            $this->forgetBegin();
            return $this->job->verdict();
        } finally {
            $this->laravel[CurrentTask::class]->end();
            $this->job = null;
        }
    }

    // Detects the timeout of a job with failOnTimeout. PHP cannot be interrupted during a job, so a
    // job over its timeout is killed with its process, and the next attempt reads the start of the
    // last one.
    private function timedOut(): bool
    {
        if (!$this->job->shouldFailOnTimeout() || !$this->job->timeout()) {
            return false;
        }
        $began = $this->cache->get($this->beganKey());
        $this->cache->put($this->beganKey(), time(), 7 * 86400);
        return $began !== null && time() - $began >= $this->job->timeout();
    }

    private function forgetBegin(): void
    {
        if ($this->job->shouldFailOnTimeout()) {
            $this->cache->forget($this->beganKey());
        }
    }

    private function beganKey(): string
    {
        return "allot:began:{$this->job->getJobId()}";
    }

    // Does the same as Worker::daemon() before each job.
    private function resetScope(): void
    {
        (function () {
            if (isset($this->resetScope)) {
                ($this->resetScope)();
            }
        })->call($this->worker);
    }

    private function threw(JobExceptionOccurred $event): void
    {
        if ($event->job !== $this->job) {
            return;
        }
        $this->job->threw($event->exception);
        if ($this->causedByLostConnection($event->exception)) {
            $this->leaves = 'the connection to the database was lost';  // reconnects on restart
        }
    }

    // Runs after exit() or a fatal error in a job.
    private function ended(): void
    {
        if ($this->task === null) {
            return;
        }
        ini_set('memory_limit', '-1');  // may be exhausted
        $error = error_get_last();
        $fatal = $error && in_array($error['type'], [E_ERROR, E_CORE_ERROR, E_COMPILE_ERROR, E_PARSE], true);
        $this->pipe->lastVerdict($this->task, Verdict::ended($fatal ? $error : null));
    }
}
