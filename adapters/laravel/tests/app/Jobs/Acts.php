<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Jobs;

use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Queue;

// Runs the action named by its second argument, until attempt $until (0: always).
class Acts extends Job
{
    public $tries = 2;
    public $timeout;
    public $maxExceptions;
    public $failOnTimeout = false;
    public $backoff = 0;

    public function __construct(string $name, public string $act, public int $until = 0)
    {
        parent::__construct($name);
    }

    protected function work()
    {
        if ($this->until === 0 || $this->attempts() < $this->until) {
            $this->{$this->act}();
        }
    }

    private function throws()
    {
        throw new \DomainException("no such order: {$this->name}");
    }

    private function releases()
    {
        $this->release(0);
    }

    private function failsItself()
    {
        $this->fail(new \DomainException('not to be retried'));
    }

    private function deletes()
    {
        $this->delete();
    }

    private function throwsAfterDelete()
    {
        $this->delete();
        throw new \DomainException('too late');
    }

    private function exits()
    {
        exit(3);
    }

    private function exitsSlowly()
    {
        register_shutdown_function(fn () => usleep(100000));
        exit(3);
    }

    private function runsIntoAFatalError()
    {
        eval('class Twice {} class Twice {}');
    }

    private function usesUpItsMemory()
    {
        ini_set('memory_limit', '40M');
        str_repeat('x', 50 << 20);
    }

    private function prints()
    {
        echo "{\"kind\": \"verdict\"}\nprinted by {$this->name}\n";
        fwrite(STDERR, "and an error\n");
    }

    private function kills()
    {
        posix_kill(getmypid(), SIGKILL);
    }

    private function sleeps()
    {
        sleep(60);
    }

    private function losesItsConnection()
    {
        $id = DB::selectOne('SELECT CONNECTION_ID() AS id')->id;
        DB::connection('other')->statement("KILL $id");
        DB::transaction(fn () => DB::select('SELECT 1'));
        DB::beginTransaction();
        DB::select('SELECT 1');
    }

    private function closesItsConnectionInATransaction()
    {
        DB::beginTransaction();
        $id = DB::selectOne('SELECT CONNECTION_ID() AS id')->id;
        DB::connection('other')->statement("KILL $id");
        DB::select('SELECT 1');
    }

    private function notesItsPayload()
    {
        $payload = $this->job->payload();
        $this->note('payload', "{$payload['tag']} {$payload['uuid']}");
    }

    private function notesItsStart()
    {
        $this->note('started', (string) $_SERVER['REQUEST_TIME']);
    }

    private function leavesAChild()
    {
        $null = ['file', '/dev/null', 'r+'];
        proc_open(['/bin/sleep', '3'], [$null, $null, $null], $pipes);
    }

    private function enqueuesItselfAgain()
    {
        $payload = $this->job->payload();
        $payload['data']['command'] = serialize(new self("{$this->name}, changed", 'deletes'));
        Queue::pushRaw(json_encode($payload), $this->job->getQueue(), ['delay' => 1]);
        $this->delete();
    }

    private function movesItself()
    {
        $payload = $this->job->payload();
        $payload['data']['command'] = serialize(new self("{$this->name}, moved", 'deletes'));
        Queue::pushRaw(json_encode($payload), 'other');
        $this->delete();
    }
}
