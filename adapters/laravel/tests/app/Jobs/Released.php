<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

// Records the release of its code, and takes 5 ms.
class Released extends Job
{
    protected function work()
    {
        usleep(5000);
        $this->note('release', (string) app('release'));
    }
}
