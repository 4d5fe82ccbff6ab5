<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Handler;

use Symfony\Component\Messenger\Handler\Acknowledger;
use Symfony\Component\Messenger\Handler\BatchHandlerInterface;

// Keeps its messages despite any flush.
final class KeptHandler implements BatchHandlerInterface
{
    private array $kept = [];

    public function __invoke(\App\Message\Kept $message, ?Acknowledger $ack = null)
    {
        return count($this->kept[] = [$message, $ack]);
    }

    public function flush(bool $force): void
    {
    }
}
