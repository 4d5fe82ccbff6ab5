<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

class Nothing implements \Illuminate\Contracts\Queue\ShouldQueue
{
    use \Illuminate\Bus\Queueable, \Illuminate\Foundation\Bus\Dispatchable, \Illuminate\Queue\InteractsWithQueue;

    public function handle()
    {
    }
}
