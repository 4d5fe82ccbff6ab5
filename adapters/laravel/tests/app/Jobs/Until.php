<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

// Throws at once until a time that is a few seconds after its dispatch; its tries do not matter then.
class Until extends Job
{
    public $tries = 1;
    public $backoff = 0;

    public function retryUntil()
    {
        return now()->addSeconds(4);
    }

    protected function work()
    {
        throw new \DomainException('not yet');
    }
}
