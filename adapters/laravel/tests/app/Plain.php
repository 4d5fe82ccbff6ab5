<?php
// SPDX-License-Identifier: Apache-2.0
namespace App;

use Illuminate\Support\Facades\DB;

// A handler that is pushed by name, with data.
class Plain
{
    public function fire($job, $data)
    {
        DB::table('seen')->insert(['job' => $data['name'], 'what' => 'ran', 'detail' => '', 'attempt' => $job->attempts(),
                                   'task' => $job->getJobId()]);
        if ($data['delete']) {
            $job->delete();
        }
    }
}
