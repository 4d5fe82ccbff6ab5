<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

// Throws until a deadline a few seconds after its dispatch, which makes its tries irrelevant.
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
