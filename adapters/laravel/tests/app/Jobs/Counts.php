<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

// Ends whatever is killed around it.
class Counts extends Job
{
    public $tries = 50;
    public $backoff = 0;

    protected function work()
    {
    }
}
