<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Handler;

final class SecondOfBothHandler
{
    public function __construct(private \App\Seen $seen)
    {
    }

    public function __invoke(\App\Message\Both $message): void
    {
        $this->seen->note($message->name, 'second');
        if ($this->seen->attempt === 1) {
            throw new \DomainException('the second one');
        }
    }
}
