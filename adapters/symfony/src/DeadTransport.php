<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

use Psr\Container\ContainerInterface;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\MessageDecodingFailedException;
use Symfony\Component\Messenger\Stamp\ErrorDetailsStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Stamp\SentToFailureTransportStamp;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;
use Symfony\Component\Messenger\Transport\Receiver\ListableReceiverInterface;
use Symfony\Component\Messenger\Transport\Receiver\MessageCountAwareInterface;
use Symfony\Component\Messenger\Transport\TransportInterface;

// allot-dead: as failure transport, for messenger:failed:*. A failed message remains a dead task of
// Allot: sending it here stores no copy, and handling or removing it discards the dead task.
final class DeadTransport implements TransportInterface, ListableReceiverInterface, MessageCountAwareInterface
{
    /** @var array<string, true> Messages that failed again: they stay dead. */
    private array $failedAgain = [];

    public function __construct(
        private DeadTasks $dead,
        private Signature $signature,
        private ContainerInterface $receivers
    ) {
    }

    public function send(Envelope $envelope): Envelope
    {
        $this->failedAgain[self::idOf($envelope)] = true;
        return $envelope;
    }

    public function get(): iterable
    {
        return $this->all(1);
    }

    /** Omits messages that cannot be decoded; only `allot dead list` shows them. */
    public function all(?int $limit = null): iterable
    {
        foreach ($this->dead->all() as $task) {
            if ($limit === 0) {
                return;
            }
            try {
                $envelope = $this->dead->wasTried($task['task']) ? null : $this->find($task['task']);
            } catch (MessageDecodingFailedException $error) {
                continue;
            }
            if ($envelope) {
                yield $envelope;
                $limit -= $limit === null ? 0 : 1;
            }
        }
    }

    public function find($id): ?Envelope
    {
        $task = $this->dead->find((string) $id);
        if (!$task) {
            return null;
        }
        // The payload is unserialized here, so this application must have signed it.
        $payload = Payload::read($task['payload'], $this->signature) ?? throw new MessageDecodingFailedException(
            "task $id is not signed with this application's secret (framework.secret); see allot task show $id");
        [$class, $message] = explode(': ', $task['error'] ?? '', 2) + [1 => ''];
        return $this->decoded($payload)
            ->withoutAll(TransportMessageIdStamp::class)
            ->withoutAll(RedeliveryStamp::class)
            ->with(
                new TransportMessageIdStamp($task['task']),
                new SentToFailureTransportStamp($payload->transport),
                new RedeliveryStamp(0, new \DateTimeImmutable($task['died_at'] ?? 'now')),
                new ErrorDetailsStamp($class, 0, $message)
            );
    }

    // Decodes the message with the transport that sent it.
    private function decoded(Payload $payload): Envelope
    {
        $name = $payload->transport;
        $transport = $this->receivers->has($name) ? $this->receivers->get($name) : null;
        if (!$transport instanceof AllotTransport) {
            throw new MessageDecodingFailedException("it was sent by '$name', which is not a transport of Allot");
        }
        try {
            return $transport->decode($payload);
        } catch (\Throwable $error) {  // an invalid envelope may cause any error
            throw new MessageDecodingFailedException($error->getMessage(), 0, $error);
        }
    }

    public function getMessageCount(): int
    {
        return iterator_count($this->dead->all());
    }

    public function ack(Envelope $envelope): void
    {
        if (!isset($this->failedAgain[self::idOf($envelope)])) {
            $this->dead->discard(self::idOf($envelope));
        }
    }

    /** Called by messenger:failed:remove, or after another failure. */
    public function reject(Envelope $envelope): void
    {
        if (!$this->dead->wasTried(self::idOf($envelope))) {
            $this->dead->discard(self::idOf($envelope));
        }
    }

    private static function idOf(Envelope $envelope): string
    {
        return (string) $envelope->last(TransportMessageIdStamp::class)?->getId();
    }
}
