<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

// Notes its process, and waits to be killed.
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
