<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

// Records its process, and waits until it is killed.
class Waits extends Job
{
    public $tries = 2;
    public $backoff = 0;

    protected function work()
    {
        $this->note('process', (string) getmypid());
        sleep(60);
    }
}
