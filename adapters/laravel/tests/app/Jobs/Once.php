<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

use Allot\Laravel\UniqueInAllot;
use Illuminate\Contracts\Queue\ShouldBeUnique;

class Once extends Job implements ShouldBeUnique
{
    use UniqueInAllot;

    public function uniqueId()
    {
        return $this->name;
    }

    protected function work()
    {
    }
}
