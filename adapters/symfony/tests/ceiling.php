<?php
// SPDX-License-Identifier: Apache-2.0
// Handles the empty message repeatedly, with the framework's worker, serializer and events but
// without a queue.
namespace Tests;

use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;
use Symfony\Component\Messenger\Transport\Receiver\ReceiverInterface;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;
use Symfony\Component\Messenger\Worker;

$kernel = require __DIR__ . '/app/bootstrap.php';
$kernel->boot();

$receiver = new class((int) $argv[1]) implements ReceiverInterface {
    public ?Worker $worker = null;
    private PhpSerializer $serializer;
    private array $encoded;

    public function __construct(private int $left)
    {
        $this->serializer = new PhpSerializer();
        $this->encoded = $this->serializer->encode(new Envelope(new \App\Message\Nothing()));
    }

    public function get(): iterable
    {
        return [$this->serializer->decode($this->encoded)->with(new TransportMessageIdStamp('ceiling'))];
    }

    public function ack(Envelope $envelope): void
    {
        if (--$this->left === 0) {
            $this->worker->stop();
        }
    }

    public function reject(Envelope $envelope): void
    {
    }
};
$container = $kernel->getContainer();
$receiver->worker = new Worker(['async' => $receiver], $container->get('test.bus'), $container->get('event_dispatcher'));
$receiver->worker->run();
