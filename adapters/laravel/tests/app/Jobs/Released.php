<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

// Notes with which release of the code it runs, and takes a little while.
class Released extends Job
{
    protected function work()
    {
        usleep(5000);
        $this->note('release', (string) app('release'));
    }
}
