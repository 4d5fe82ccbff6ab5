<?php
// SPDX-License-Identifier: Apache-2.0
namespace App;

use Doctrine\Persistence\ConnectionRegistry;
use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\Messenger\Event\WorkerMessageFailedEvent;
use Symfony\Component\Messenger\Event\WorkerMessageReceivedEvent;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;
use Symfony\Component\Messenger\Transport\Sender\SenderInterface;

// Records the events of messages in the table `seen`.
final class Seen implements EventSubscriberInterface
{
    public int $attempt = 1;
    public string $task = '';
    public string $transport = '';

    public function __construct(private ConnectionRegistry $doctrine, private SenderInterface $urgent)
    {
    }

    public static function getSubscribedEvents(): array
    {
        return [WorkerMessageReceivedEvent::class => 'received', WorkerMessageFailedEvent::class => ['failed', -500]];
    }

    public function received(WorkerMessageReceivedEvent $event): void
    {
        $this->attempt = RedeliveryStamp::getRetryCountFromEnvelope($event->getEnvelope()) + 1;
        $this->task = (string) $event->getEnvelope()->last(TransportMessageIdStamp::class)->getId();
        $this->transport = $event->getReceiverName();
        $message = $event->getEnvelope()->getMessage();
        if (($message->act ?? '') === 'isLeft' && !is_file($mark = getenv('APP_WORK') . '/left')) {
            touch($mark);
            $event->shouldHandle(false);
        }
    }

    /** A final failure. */
    public function failed(WorkerMessageFailedEvent $event): void
    {
        $message = $event->getEnvelope()->getMessage();
        if (($message->act ?? '') === 'movesItself') {
            $message->act = 'prints';
            $this->urgent->send($event->getEnvelope());
        }
        if (!$event->willRetry() && isset($message->name)) {
            $this->note($message->name, 'failed', $event->getThrowable()->getMessage());
        }
    }

    public function note(string $name, string $what, string $detail = ''): void
    {
        $this->doctrine->getConnection('other')->insert('seen', [
            'name' => $name, 'what' => $what, 'detail' => $detail, 'attempt' => $this->attempt, 'task' => $this->task]);
    }
}
