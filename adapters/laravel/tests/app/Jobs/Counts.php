<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

// Succeeds eventually, whatever processes are killed.
class Counts extends Job
{
    public $tries = 50;
    public $backoff = 0;

    protected function work()
    {
    }
}
