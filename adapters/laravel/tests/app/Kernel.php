<?php
// SPDX-License-Identifier: Apache-2.0
namespace App;

class Kernel extends \Illuminate\Foundation\Console\Kernel
{
    protected function commands()
    {
    }
}
