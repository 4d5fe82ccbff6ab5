<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Handler;

final class UrgentHandler
{
    public function __construct(private \App\Seen $seen)
    {
    }

    public function __invoke(\App\Message\Urgent $message): void
    {
        $this->seen->note($message->name, 'ran', $this->seen->transport);
        throw new \DomainException('too urgent');
    }
}
