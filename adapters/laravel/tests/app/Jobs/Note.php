<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

class Note extends Job
{
    protected function work()
    {
    }
}
