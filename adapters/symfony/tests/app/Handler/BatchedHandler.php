<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Handler;

use Symfony\Component\Messenger\Handler\Acknowledger;
use Symfony\Component\Messenger\Handler\BatchHandlerInterface;
use Symfony\Component\Messenger\Handler\BatchHandlerTrait;

final class BatchedHandler implements BatchHandlerInterface
{
    use BatchHandlerTrait;

    public function __construct(private \App\Seen $seen)
    {
    }

    public function __invoke(\App\Message\Batched $message, ?Acknowledger $ack = null)
    {
        return $this->handle($message, $ack);
    }

    private function process(array $jobs): void
    {
        foreach ($jobs as [$message, $ack]) {
            $this->seen->note($message->name, 'ran', (string) count($jobs));
            $message->name === 'refused' ? $ack->nack(new \DomainException('not this one')) : $ack->ack();
        }
    }
}
