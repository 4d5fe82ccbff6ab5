<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

use Psr\Cache\CacheItemPoolInterface;
use Symfony\Component\Messenger\EventListener\StopWorkerOnRestartSignalListener;
use Symfony\Component\Messenger\Worker;

// The current task of this process, and its pipe. All transports of Allot share it, because a
// process runs one task at a time.
final class Inbox
{
    private ?Pipe $pipe = null;
    private ?Task $task = null;
    private ?Worker $worker = null;
    /** @var string[] The transports of Allot; below, the ones that the worker consumes. */
    private array $known = [];
    private array $transports = [];
    private bool $open = true;
    private ?float $restart = null;
    private ?\Throwable $crash = null;

    public function __construct(private Signature $signature, private CacheItemPoolInterface $restartSignal)
    {
    }

    /** Registers a transport of Allot. */
    public function know(string $transport): void
    {
        $this->known[] = $transport;
    }

    public function begin(Worker $worker): void
    {
        $consumed = $worker->getMetadata()->getTransportNames();
        $this->worker = $worker;
        $this->transports = array_intersect($consumed, $this->known);
        if ($this->transports && $others = array_diff($consumed, $this->known)) {
            throw new \LogicException("messenger:consume of transports of Allot waits for allotd; consume '" .
                implode("', '", $others) . "' by a command of their own");
        }
        $this->restart = $this->restartRequested();
    }

    /** @return string[] */
    public function transports(): array
    {
        return $this->transports;
    }

    /** The current task; null: none, as in a process that only dispatches. */
    public function task(): ?Task
    {
        return $this->task;
    }

    /**
     * The next task for a transport. Null: the current task is not done yet or is for another
     * transport, or no further task follows.
     */
    public function take(string $transport): ?Task
    {
        if ($this->task?->takenBy !== null && !$this->settle($transport)) {
            return null;
        }
        if (!$this->task && !$this->read()) {
            return null;
        }
        if ($this->task->payload->transport !== $transport) {
            return null;
        }
        $this->task->takenBy = $transport;
        return $this->task;
    }

    /** Called by a transport's ack() and reject(). All earlier tasks have a verdict already. */
    public function finish(string $id, bool $acknowledged): void
    {
        if ($this->task?->id === $id) {
            $this->answer($this->task->verdict($acknowledged));
        }
    }

    public function answer(array $verdict, bool $leaves = false): void
    {
        $id = $this->task->id;
        $this->task = null;
        $this->open = !$leaves;
        $this->pipe->verdict($id, $verdict, $leaves);
        if ($leaves) {
            $this->worker?->stop();
        }
    }

    public function pipe(): Pipe
    {
        if (!$this->pipe) {
            $this->pipe = new Pipe();
            register_shutdown_function(fn () => $this->ended());
        }
        return $this->pipe;
    }

    /** Records an uncaught error, which is about to end the process. */
    public function crashed(\Throwable $error): void
    {
        $this->crash = $error;
    }

    // Called if the framework's worker requests a message before the end of the current one. The
    // first such request is normal, because batch handlers then process their messages. False: call
    // again.
    private function settle(string $transport): bool
    {
        if ($this->task->left) {
            $this->answer(Verdict::snooze(Task::SKIPPED_MS, 'a listener of WorkerMessageReceivedEvent left it'));
            return true;
        }
        if ($transport !== $this->task->takenBy) {
            return false;
        }
        if ($this->task->asked) {
            $this->answer(Verdict::retry(null, 'it was neither acknowledged nor rejected: a handler of batches has ' .
                'to process what it has when flush(false) is called'), true);
        } else {
            $this->task->asked = true;
        }
        return false;
    }

    private function read(): bool
    {
        while ($this->open) {
            $line = $this->pipe()->nextTask();
            if ($line === null) {
                $this->open = false;
                $this->worker?->stop();
                break;
            }
            $payload = Payload::read($line['payload'], $this->signature);
            $this->task = new Task($line, $payload ?? new Payload('', []));
            if ($this->isRestarted()) {
                // S83: the task runs with the new code, in the process that replaces this one.
                $this->answer(Verdict::release('messenger:stop-workers'), true);
            } elseif ($payload === null) {
                $this->answer(Verdict::fail(
                    null, "the payload is not signed with this application's secret (framework.secret)"));
            } elseif (!in_array($payload->transport, $this->transports, true)) {
                $this->answer(Verdict::fail(null, "it was sent by the transport '{$payload->transport}', which is not " .
                    'an argument of messenger:consume; add it there, then: allot dead retry'));
            } else {
                return true;
            }
        }
        return false;
    }

    // Whether `messenger:stop-workers` was called since this process was started. A mark that
    // differs from the one at the start always counts, because the clock of another host may be
    // behind.
    private function isRestarted(): bool
    {
        $mark = $this->restartRequested();
        return $mark !== $this->restart ||
            $mark !== null && $mark > $_SERVER['REQUEST_TIME_FLOAT'] && $mark <= microtime(true);
    }

    private function restartRequested(): ?float
    {
        $item = $this->restartSignal->getItem(StopWorkerOnRestartSignalListener::RESTART_REQUESTED_TIMESTAMP_KEY);
        return $item->isHit() ? (float) $item->get() : null;
    }

    private function ended(): void
    {
        ini_set('memory_limit', '-1');  // may be exhausted
        if ($this->task) {
            $this->answer($this->verdictOfTheEnd(), true);
        } elseif ($this->open && $line = $this->pipe->nextTask()) {
            // The framework's worker reached one of its limits. A task passed to this process now
            // would be charged for the exit, so it is given back.
            $this->pipe->verdict($line['id'], Verdict::release('the process ends'), true);
        }
    }

    private function verdictOfTheEnd(): array
    {
        if ($this->task->takenBy === null) {
            return Verdict::release('before it was handled: ' . ($this->crash ? $this->crash->getMessage() : 'exit'));
        }
        if ($this->crash) {
            return Verdict::retry($this->crash, '');
        }
        $error = error_get_last();
        $fatal = $error && in_array($error['type'], [E_ERROR, E_CORE_ERROR, E_COMPILE_ERROR, E_PARSE], true);
        return Verdict::ended($fatal ? $error : null);
    }
}
