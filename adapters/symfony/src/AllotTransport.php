<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

use Psr\EventDispatcher\EventDispatcherInterface;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Event\WorkerMessageFailedEvent;
use Symfony\Component\Messenger\Exception\UnrecoverableMessageHandlingException;
use Symfony\Component\Messenger\Retry\MultiplierRetryStrategy;
use Symfony\Component\Messenger\Retry\RetryStrategyInterface;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\ErrorDetailsStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;
use Symfony\Component\Messenger\Transport\Receiver\MessageCountAwareInterface;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;
use Symfony\Component\Messenger\Transport\TransportInterface;

// allot://CONNECTION?queue=NAME: sends with Allot's procedures over the application's own
// connection, so that a message commits with the rows of the transaction that dispatches it;
// receives the tasks that allotd passes to this process.
final class AllotTransport implements TransportInterface, MessageCountAwareInterface, Keepalive
{
    private const MAX_ATTEMPTS = 100000;

    public function __construct(
        private string $name,
        private string $queue,
        private Submission $submission,
        private Inbox $inbox,
        private Signature $signature,
        private SerializerInterface $serializer,
        private ?RetryStrategyInterface $retries,
        private EventDispatcherInterface $events
    ) {
    }

    public function send(Envelope $envelope): Envelope
    {
        if ($task = $this->inHand($envelope)) {
            return $this->sendAgain($task, $envelope);
        }
        $id = $this->submission->submit($this->task($envelope));
        return $envelope->withoutAll(TransportMessageIdStamp::class)->with(new TransportMessageIdStamp($id));
    }

    public function get(): iterable
    {
        while ($task = $this->inbox->take($this->name)) {
            try {
                $envelope = $this->decode($task->payload);
            } catch (\Throwable $error) {
                $this->inbox->answer(Verdict::fail($error));
                continue;
            }
            // Granted by the framework, after an attempt whose end it handled.
            $granted = RedeliveryStamp::getRetryCountFromEnvelope($envelope) >= $task->attempt - 1;
            $envelope = $this->received($envelope, $task);
            if ($granted || $this->mayRunAgain($envelope, $task->attempt - 2)) {
                return [$envelope];
            }
            // S83: the last try has died with its process. The message is not handled again; the
            // framework records the failure.
            $this->events->dispatch(new WorkerMessageFailedEvent($envelope, $this->name,
                new UnrecoverableMessageHandlingException('the process of its last try has ended')));
            $this->inbox->finish($task->id, false);
        }
        return [];
    }

    public function decode(Payload $payload): Envelope
    {
        return $this->serializer->decode($payload->encoded);
    }

    public function ack(Envelope $envelope): void
    {
        $this->inbox->finish(self::idOf($envelope), true);
    }

    public function reject(Envelope $envelope): void
    {
        $this->inbox->finish(self::idOf($envelope), false);
    }

    public function keepalive(Envelope $envelope, ?int $seconds = null): void
    {
        if ($this->inHand($envelope)) {
            $this->inbox->pipe()->heartbeat(self::idOf($envelope));
        }
    }

    /** Ends at 10,000; SQL sees a running task only if it is detached. */
    public function getMessageCount(): int
    {
        return $this->submission->waiting($this->queue);
    }

    // The framework retries a message by sending it again. The task stays the same and gets the
    // message's current stamps, such as the handlers that have run. For another transport a new
    // task replaces it.
    private function sendAgain(Task $task, Envelope $envelope): Envelope
    {
        $envelope = $envelope->withoutAll(ErrorDetailsStamp::class);  // Allot keeps the error with the attempt
        if ($task->takenBy === $this->name) {
            $this->inbox->pipe()->checkpoint($task->id, $this->payload($envelope));
            $task->retried(self::delayOf($envelope));
        } else {
            $this->inbox->pipe()->replaceWith($task->id, $this->task($envelope->withoutAll(RedeliveryStamp::class)));
            $task->moved();
        }
        return $envelope;
    }

    // Derives the count of retries from the attempts, which include the ones that died with their
    // process.
    private function received(Envelope $envelope, Task $task): Envelope
    {
        if (RedeliveryStamp::getRetryCountFromEnvelope($envelope) !== $task->attempt - 1) {
            $envelope = $envelope->withoutAll(RedeliveryStamp::class)->with(new RedeliveryStamp($task->attempt - 1));
        }
        return $envelope->withoutAll(TransportMessageIdStamp::class)->with(new TransportMessageIdStamp($task->id));
    }

    private function mayRunAgain(Envelope $envelope, int $retried): bool
    {
        return (bool) $this->retries?->isRetryable($envelope->with(new RedeliveryStamp($retried)));
    }

    /** A task with the names of Allot's options. */
    private function task(Envelope $envelope): array
    {
        $delay = self::delayOf($envelope);
        return ($envelope->last(AllotStamp::class)?->options ?? []) + [
            'queue' => $this->queue,
            'type' => $this->submission->typeOf(get_class($envelope->getMessage())),
            'payload' => $this->payload($envelope),
            // S83: one more than the framework's tries; see get().
            'max_attempts' => min(self::MAX_ATTEMPTS, $this->triesOf($envelope) + 1),
        ] + ($delay > 0 ? ['delay' => "{$delay}ms"] : []);
    }

    // A strategy of the application may depend on the error, so the number of tries is unknown.
    private function triesOf(Envelope $envelope): int
    {
        if ($this->retries && !$this->retries instanceof MultiplierRetryStrategy) {
            return self::MAX_ATTEMPTS;
        }
        for ($tries = 1; $tries < self::MAX_ATTEMPTS && $this->mayRunAgain($envelope, $tries - 1); $tries++);
        return $tries;
    }

    private function payload(Envelope $envelope): string
    {
        return (new Payload($this->name, $this->serializer->encode($envelope)))->signed($this->signature);
    }

    private function inHand(Envelope $envelope): ?Task
    {
        $task = $this->inbox->task();
        return $task && $task->id === self::idOf($envelope) ? $task : null;
    }

    private static function idOf(Envelope $envelope): string
    {
        return (string) $envelope->last(TransportMessageIdStamp::class)?->getId();
    }

    private static function delayOf(Envelope $envelope): int
    {
        return max(0, $envelope->last(DelayStamp::class)?->getDelay() ?? 0);
    }
}
