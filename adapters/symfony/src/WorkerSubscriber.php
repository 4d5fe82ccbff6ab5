<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

use Doctrine\DBAL\Exception\ConnectionException;
use Doctrine\DBAL\Exception\ConnectionLost;
use Psr\Container\ContainerInterface;
use Symfony\Component\Console\ConsoleEvents;
use Symfony\Component\Console\Event\ConsoleErrorEvent;
use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\Messenger\Event\AbstractWorkerMessageEvent;
use Symfony\Component\Messenger\Event\WorkerMessageFailedEvent;
use Symfony\Component\Messenger\Event\WorkerMessageReceivedEvent;
use Symfony\Component\Messenger\Event\WorkerRunningEvent;
use Symfony\Component\Messenger\Event\WorkerStartedEvent;
use Symfony\Component\Messenger\Stamp\SentToFailureTransportStamp;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;

// Reports the events of the framework's worker to the current task.
final class WorkerSubscriber implements EventSubscriberInterface
{
    private bool $connectionLost = false;

    /** @param ContainerInterface|null $failureTransports by name of the original transport */
    public function __construct(
        private Inbox $inbox,
        private DeadTasks $dead,
        private ?ContainerInterface $failureTransports = null
    ) {
    }

    public static function getSubscribedEvents(): array
    {
        return [
            WorkerStartedEvent::class => 'started',
            WorkerMessageReceivedEvent::class => ['received', -1000],
            // Before the framework sends the message again, and after it has sent it to a failure
            // transport.
            WorkerMessageFailedEvent::class => [['failed', 1000], ['failureSent', -1000]],
            WorkerRunningEvent::class => 'running',
            ConsoleEvents::ERROR => 'crashed',
        ];
    }

    public function started(WorkerStartedEvent $event): void
    {
        $this->inbox->begin($event->getWorker());
        foreach ($this->inbox->transports() as $name) {
            if ($this->failureTransports?->has($name) && $this->failureTransports->get($name) instanceof AllotTransport) {
                throw new \LogicException("the failure transport of '$name' is an Allot transport, which would handle failed " .
                    'messages again at once; use the DSN allot-dead: or no failure transport');
            }
        }
    }

    public function received(WorkerMessageReceivedEvent $event): void
    {
        if ($event->getEnvelope()->last(SentToFailureTransportStamp::class)) {
            $this->dead->tried(self::idOf($event));
        }
        if (!$event->shouldHandle() && $task = $this->taskOf($event)) {
            $task->left = true;
        }
    }

    public function failed(WorkerMessageFailedEvent $event): void
    {
        if ($task = $this->taskOf($event)) {
            $task->failed($event->getThrowable());
            $this->connectionLost = $this->connectionLost || self::isConnectionLost($event->getThrowable());
        }
    }

    public function failureSent(WorkerMessageFailedEvent $event): void
    {
        $task = $this->taskOf($event);
        $from = $event->getReceiverName();
        if (!$task || $event->willRetry() || !$this->failureTransports?->has($from)) {
            return;
        }
        $sentBefore = $event->getEnvelope()->last(SentToFailureTransportStamp::class)?->getOriginalReceiverName() === $from;
        if (!$sentBefore && !$this->failureTransports->get($from) instanceof DeadTransport) {
            $task->moved();
        }
    }

    // Doctrine does not reconnect, so the process exits and the next one connects.
    public function running(WorkerRunningEvent $event): void
    {
        if ($this->connectionLost) {
            $event->getWorker()->stop();
        }
    }

    public function crashed(ConsoleErrorEvent $event): void
    {
        $this->inbox->crashed($event->getError());
    }

    private function taskOf(AbstractWorkerMessageEvent $event): ?Task
    {
        $task = $this->inbox->task();
        return $task && $task->id === self::idOf($event) ? $task : null;
    }

    private static function idOf(AbstractWorkerMessageEvent $event): string
    {
        return (string) $event->getEnvelope()->last(TransportMessageIdStamp::class)?->getId();
    }

    private static function isConnectionLost(?\Throwable $error): bool
    {
        for (; $error; $error = $error->getPrevious()) {
            if ($error instanceof ConnectionLost || $error instanceof ConnectionException) {
                return true;
            }
        }
        return false;
    }
}
