<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

use Illuminate\Bus\Batchable;
use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;
use Illuminate\Queue\SerializesModels;
use Illuminate\Support\Facades\DB;

// Base of the test jobs: each records its events in the table `seen`.
abstract class Job implements ShouldQueue
{
    use Batchable, Dispatchable, InteractsWithQueue, Queueable, SerializesModels;

    public function __construct(public string $name = 'job')
    {
    }

    public function handle()
    {
        $this->note('ran');
        $this->work();
    }

    abstract protected function work();

    public function failed($error)
    {
        $this->note('failed', $error ? get_class($error) . ': ' . $error->getMessage() : '');
    }

    protected function note(string $what, string $detail = '')
    {
        DB::connection('other')->table('seen')->insert([
            'job' => $this->name, 'what' => $what, 'detail' => $detail, 'attempt' => $this->attempts(),
            'task' => $this->job ? $this->job->uuid() : '']);
    }
}
