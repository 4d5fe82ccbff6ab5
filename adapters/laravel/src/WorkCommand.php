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

// The program that allotd keeps: reads a task, lets the framework's worker process it, and answers
// with the verdict. It runs one job after the other until allotd closes the pipe.
final class WorkCommand extends Command
{
    use DetectsLostConnections;

    private const PAUSED_SECONDS = 10;  // between two looks whether the application takes jobs again

    protected $signature = 'allot:work
        {connection=allot : Queue connection of the driver allot}
        {--force : Run jobs in maintenance mode, too}';
    protected $description = 'Run jobs of Allot; started by allotd';

    private Cache $cache;
    private Pipe $pipe;
    private Worker $worker;
    private ?AllotJob $job = null;
    private ?string $task = null;     // the one without a verdict yet
    private bool $leaves = false;

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

        $restarted = $cache->get('illuminate:queue:restart');
        $this->pipe = new Pipe();
        while ($task = $this->pipe->nextTask()) {
            if ($cache->get('illuminate:queue:restart') !== $restarted) {
                // S83: it runs with the new code, in the process that takes the place of this one.
                $this->pipe->verdict($task['id'], Verdict::release('queue:restart'), true);
                return 0;
            }
            $this->task = $task['id'];
            $verdict = $this->verdict($connection, $task, $options);
            $this->task = null;
            $this->pipe->verdict($task['id'], $verdict, $this->leaves);
            if ($this->leaves) {
                return 0;
            }
        }
        return 0;
    }

    private function verdict(string $connection, array $task, WorkerOptions $options): array
    {
        try {
            return $this->pauses($connection, $task['queue']) ?? $this->process($connection, $task, $options);
        } catch (\Throwable $error) {  // of what is around the job; the framework has taken the job's own
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

    private function process(string $connection, array $task, WorkerOptions $options): array
    {
        $signature = $this->laravel[Signature::class];
        $json = $signature->verified($task['payload']);
        if ($json === null) {
            return Verdict::fail(null, "the payload is not signed with this application's key (app.key)");
        }
        $this->resetScope();
        $this->job = new AllotJob($this->laravel, $connection, $this->pipe, $signature, $task, $json);
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

    // Of a job with failOnTimeout. Nothing interrupts PHP amid a job, so one that runs over its timeout
    // is killed with its process, and the next attempt finds when the last one began.
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

    // What Worker::daemon() does before each job.
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
        // As the framework's worker: the next process connects again.
        $this->leaves = $this->leaves || $this->causedByLostConnection($event->exception);
    }

    // After exit() or a fatal error in a job.
    private function ended(): void
    {
        if ($this->task === null) {
            return;
        }
        ini_set('memory_limit', '-1');  // it may be used up
        $error = error_get_last();
        $fatal = $error && in_array($error['type'], [E_ERROR, E_CORE_ERROR, E_COMPILE_ERROR, E_PARSE], true);
        $this->pipe->verdict($this->task, Verdict::ended($fatal ? $error : null), true);
    }
}
